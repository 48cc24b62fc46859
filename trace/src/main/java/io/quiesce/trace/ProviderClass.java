package io.quiesce.trace;

import io.quiesce.trace.point.FieldKind;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The hidden class that implements a provider's interface, a member of the package of whoever asks
 * for it.
 *
 * <pre>
 *   private static final MethodHandle H0 = (MethodHandle) MethodHandles.classData(..).get(0);
 *   public void orderPlaced(long id, int qty, String symbol) { H0.invokeExact(id, qty, symbol); }
 * </pre>
 *
 * <p>It names the JDK's classes and the interface's own, none of this library: so it works wherever
 * the interface does. Each handle is bound to its tracepoint and encoder. The compiler takes static
 * final fields for constants, and sees through the handle. The fields are set as the class is
 * initialised, not at the first event, which may come when the stack is almost full.
 */
final class ProviderClass {
  private static final ClassDesc LOOKUP = ConstantDescs.CD_MethodHandles_Lookup;
  private static final ClassDesc HANDLE = ConstantDescs.CD_MethodHandle;
  private static final String DATA = ConstantDescs.DEFAULT_NAME;
  private static final int IMPLEMENTATION = ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL;
  private static final int CONSTANT =
      ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_FINAL;

  private ProviderClass() {}

  static <T> T instance(
      MethodHandles.Lookup lookup, Class<T> type, ProviderShape shape, List<MethodHandle> handles) {
    byte[] bytes = generate(lookup.lookupClass(), type, shape);
    try {
      MethodHandles.Lookup made =
          lookup.defineHiddenClassWithClassData(bytes, List.copyOf(handles), true);
      Object instance =
          made.findConstructor(
                  made.lookupClass(), java.lang.invoke.MethodType.methodType(void.class))
              .invoke();
      return type.cast(instance);
    } catch (VirtualMachineError e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalArgumentException(
          "The class "
              + lookup.lookupClass().getName()
              + " whose lookup was given cannot implement "
              + type.getName()
              + " ("
              + e
              + "); give a lookup of the class that declares it",
          e);
    }
  }

  private static byte[] generate(Class<?> host, Class<?> type, ProviderShape shape) {
    String name = host.getPackageName();
    ClassDesc self = ClassDesc.of(name, type.getSimpleName() + "Tracepoints");
    List<Method> methods = new ArrayList<>();
    List<Consumer<CodeBuilder>> bodies = new ArrayList<>();
    for (ProviderShape.Event event : shape.events()) {
      int field = methods.size();
      methods.add(event.method());
      bodies.add(code -> event(code, self, field, event.kinds()));
    }
    for (ProviderShape.Question question : shape.questions()) {
      int field = methods.size();
      methods.add(question.method());
      bodies.add(
          code ->
              code.getstatic(self, handle(field), HANDLE)
                  .invokevirtual(HANDLE, "invokeExact", MethodTypeDesc.of(ConstantDescs.CD_boolean))
                  .ireturn());
    }
    return ClassFile.of()
        .build(
            self,
            builder -> {
              builder
                  .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER | ClassFile.ACC_SYNTHETIC)
                  .withInterfaceSymbols(describe(type))
                  .withMethodBody(
                      ConstantDescs.INIT_NAME,
                      ConstantDescs.MTD_void,
                      ClassFile.ACC_PRIVATE,
                      code ->
                          code.aload(0)
                              .invokespecial(
                                  ConstantDescs.CD_Object,
                                  ConstantDescs.INIT_NAME,
                                  ConstantDescs.MTD_void)
                              .return_())
                  .withMethodBody(
                      ConstantDescs.CLASS_INIT_NAME,
                      ConstantDescs.MTD_void,
                      ClassFile.ACC_STATIC,
                      code -> initialise(code, self, methods.size()));
              for (int i = 0; i < methods.size(); i++) {
                builder.withField(handle(i), HANDLE, CONSTANT);
                builder.withMethodBody(
                    methods.get(i).getName(),
                    describe(methods.get(i)),
                    IMPLEMENTATION,
                    bodies.get(i));
              }
            });
  }

  private static String handle(int i) {
    return "H" + i;
  }

  private static void initialise(CodeBuilder code, ClassDesc self, int count) {
    code.invokestatic(ConstantDescs.CD_MethodHandles, "lookup", MethodTypeDesc.of(LOOKUP))
        .ldc(DATA)
        .ldc(ConstantDescs.CD_List)
        .invokestatic(
            ConstantDescs.CD_MethodHandles,
            "classData",
            MethodTypeDesc.of(
                ConstantDescs.CD_Object, LOOKUP, ConstantDescs.CD_String, ConstantDescs.CD_Class))
        .checkcast(ConstantDescs.CD_List)
        .astore(0);
    for (int i = 0; i < count; i++) {
      code.aload(0)
          .loadConstant(i)
          .invokeinterface(
              ConstantDescs.CD_List,
              "get",
              MethodTypeDesc.of(ConstantDescs.CD_Object, ConstantDescs.CD_int))
          .checkcast(HANDLE)
          .putstatic(self, handle(i), HANDLE);
    }
    code.return_();
  }

  private static void event(CodeBuilder code, ClassDesc self, int field, List<FieldKind> kinds) {
    List<ClassDesc> erased = new ArrayList<>();
    code.getstatic(self, handle(field), HANDLE);
    int slot = 1;
    for (FieldKind kind : kinds) {
      ClassDesc type = kind.descriptor();
      erased.add(type);
      code.loadLocal(TypeKind.from(type), slot);
      slot += kind.slots();
    }
    code.invokevirtual(HANDLE, "invokeExact", MethodTypeDesc.of(ConstantDescs.CD_void, erased))
        .return_();
  }

  private static ClassDesc describe(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }

  private static MethodTypeDesc describe(Method method) {
    List<ClassDesc> parameters = new ArrayList<>();
    for (Class<?> parameter : method.getParameterTypes()) {
      parameters.add(describe(parameter));
    }
    return MethodTypeDesc.of(describe(method.getReturnType()), parameters);
  }
}
