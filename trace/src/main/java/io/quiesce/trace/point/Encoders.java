package io.quiesce.trace.point;

import static java.lang.constant.ConstantDescs.CD_MethodHandle;
import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_Throwable;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;

import io.quiesce.trace.ring.RingBuffers;
import io.quiesce.trace.ring.Store;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the code that stores events, one class for each list of {@link FieldKind}.
 *
 * <p>For the kinds INT and TEXT it is as if somebody had written
 *
 * <pre>{@code
 * static void emit(Point point, int a, String b) {
 *   Target target = point.target();
 *   if (target != null) write(target, a, b); // through a handle
 * }
 *
 * static void write(Target target, int a, String b) {
 *   b = Encoding.text(b);
 *   long bytesOfB = Utf8Store.size(b);
 *   long own = 4 + bytesOfB;
 *   do {
 *     if (Encoding.isChoosing(target) && !isWanted(target, a, b)) continue;
 *     RingBuffers ring = target.ring();
 *     long shared = Encoding.contextBytes(target);
 *     long bytes = own + shared;
 *     long record = ring.reserve(bytes);
 *     if (record == 0) continue;
 *     try {
 *       MemorySegment memory = ring.memory();
 *       long at = Encoding.begin(target, memory, record, shared);
 *       Store.putInt(memory, at, a);
 *       at = Utf8Store.store(memory, at + 4, b, bytesOfB); // through a handle
 *       ring.commit(record, bytes, target.id());
 *     } catch (Throwable t) {
 *       Encoding.abandon(ring, record, bytes);
 *       throw t;
 *     }
 *     Reference.reachabilityFence(ring);
 *   } while ((target = target.next()) != null);
 * }
 *
 * static boolean isWanted(Target target, int a, String b) {
 *   return target.filter().test(new Object[] {a, b});
 * }
 * }</pre>
 *
 * <p>So {@code emit} is small enough to be inlined wherever it is called, and {@code write} up to
 * about 15 fields where it is called often. What can go wrong behind {@code reserve} is an overflow
 * of the stack; the record is given up then. If even that finds no stack, it stays reserved, and
 * readers step over it: nothing that is half stored is ever committed.
 *
 * <p>HotSpot inlines no more than 15 calls deep by default, and the JDK's copy of a string alone is
 * 10 deep; but it does not count a method that a constant method handle calls. So what is on the
 * way to that copy is called through handles. Without them its last calls stay calls (measured, an
 * event with a string of 9 characters: 25.7 ns, and 22.0 ns with them).
 *
 * <p>Thread-safe.
 */
public final class Encoders {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final Map<Shape, MethodHandle> ALL = new HashMap<>();
  private static final MethodHandle IS_ON = find();

  private static final ClassDesc SELF = describe(Encoders.class).nested("Made");
  private static final ClassDesc POINT = describe(Point.class);
  private static final ClassDesc TARGET = describe(Target.class);
  private static final ClassDesc RING = describe(RingBuffers.class);
  private static final ClassDesc MEMORY = describe(MemorySegment.class);
  private static final ClassDesc STORE = describe(Store.class);
  private static final ClassDesc TEXTS = describe(Utf8Store.class);
  private static final ClassDesc ENCODING = describe(Encoding.class);
  private static final ClassDesc FILTER = describe(EventFilter.class);
  private static final MethodTypeDesc STORE_TEXT =
      MethodTypeDesc.of(CD_long, MEMORY, CD_long, CD_String, CD_long);
  private static final MethodTypeDesc RESERVE = MethodTypeDesc.of(CD_long, CD_long);

  /** What tracepoints with one encoder have in common. */
  private record Shape(List<FieldKind> kinds, List<Integer> lengths) {}

  private final List<FieldKind> kinds;
  private final List<Integer> lengths;

  private Encoders(Shape shape) {
    this.kinds = shape.kinds;
    this.lengths = shape.lengths;
  }

  /**
   * What writes a tracepoint's events: a method handle that takes the arguments, an enum as {@link
   * Enum}, and returns nothing.
   *
   * @param point whose
   * @param kinds of its fields
   * @param lengths for each field that of its arrays if it is always the same, or 0
   */
  public static MethodHandle encoder(Point point, List<FieldKind> kinds, List<Integer> lengths) {
    return shared(new Shape(List.copyOf(kinds), List.copyOf(lengths))).bindTo(point);
  }

  /** What says whether a tracepoint's events go anywhere: takes nothing, returns a boolean. */
  public static MethodHandle question(Point point) {
    return IS_ON.bindTo(point);
  }

  private static MethodHandle shared(Shape shape) {
    synchronized (ALL) {
      return ALL.computeIfAbsent(shape, some -> new Encoders(some).define());
    }
  }

  private static MethodHandle find() {
    try {
      return LOOKUP.findStatic(
          Encoding.class, "isOn", MethodType.methodType(boolean.class, Point.class));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private MethodHandle define() {
    List<Class<?>> parameters = new ArrayList<>(List.of(Point.class));
    kinds.forEach(kind -> parameters.add(kind.type()));
    try {
      // What it calls is initialised now: at the first event the stack may be almost full.
      LOOKUP.ensureInitialized(Encoding.class);
      LOOKUP.ensureInitialized(Utf8Store.class);
      LOOKUP.ensureInitialized(Store.class);
      MethodHandles.Lookup made = LOOKUP.defineHiddenClass(generate(), true);
      return made.findStatic(
          made.lookupClass(), "emit", MethodType.methodType(void.class, parameters));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("The encoder for " + kinds + " cannot be made", e);
    }
  }

  private byte[] generate() {
    int flags = ClassFile.ACC_STATIC;
    return ClassFile.of()
        .build(
            SELF,
            builder ->
                builder
                    .withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SUPER | ClassFile.ACC_SYNTHETIC)
                    .withMethodBody("emit", takes(CD_void, POINT), flags, this::emit)
                    .withMethodBody("write", takes(CD_void, TARGET), flags, this::write)
                    .withMethodBody("isWanted", takes(CD_boolean, TARGET), flags, this::isWanted));
  }

  private MethodTypeDesc takes(ClassDesc returned, ClassDesc first) {
    List<ClassDesc> parameters = new ArrayList<>(List.of(first));
    kinds.forEach(kind -> parameters.add(kind.descriptor()));
    return MethodTypeDesc.of(returned, parameters);
  }

  private void loadArguments(CodeBuilder code) {
    for (int i = 0; i < kinds.size(); i++) {
      load(code, i);
    }
  }

  private void load(CodeBuilder code, int argument) {
    code.loadLocal(TypeKind.from(kinds.get(argument).descriptor()), slot(code, argument));
  }

  private static int slot(CodeBuilder code, int argument) {
    return code.parameterSlot(argument + 1);
  }

  private void emit(CodeBuilder code) {
    Label off = code.newLabel();
    code.aload(0).invokevirtual(POINT, "target", MethodTypeDesc.of(TARGET)).dup().ifnull(off);
    code.loadConstant(handle(SELF, "write", takes(CD_void, TARGET))).swap();
    loadArguments(code);
    code.invokevirtual(CD_MethodHandle, "invokeExact", takes(CD_void, TARGET))
        .return_()
        .labelBinding(off)
        .pop()
        .return_();
  }

  private void isWanted(CodeBuilder code) {
    code.aload(0)
        .invokevirtual(TARGET, "filter", MethodTypeDesc.of(FILTER))
        .loadConstant(kinds.size())
        .anewarray(CD_Object);
    for (int i = 0; i < kinds.size(); i++) {
      code.dup().loadConstant(i);
      load(code, i);
      box(code, kinds.get(i));
      code.aastore();
    }
    code.invokeinterface(FILTER, "test", MethodTypeDesc.of(CD_boolean, CD_Object.arrayType()))
        .ireturn();
  }

  private static void box(CodeBuilder code, FieldKind kind) {
    if (kind.type().isPrimitive()) {
      ClassDesc box = describe(MethodType.methodType(kind.type()).wrap().returnType());
      code.invokestatic(box, "valueOf", MethodTypeDesc.of(box, kind.descriptor()));
    } else if (kind == FieldKind.ENUM8 || kind == FieldKind.ENUM16) {
      code.invokestatic(ENCODING, "label", MethodTypeDesc.of(CD_String, kind.descriptor()));
    }
  }

  private void write(CodeBuilder code) {
    Integer[] sizes = new Integer[kinds.size()];
    int own = measure(code, sizes);
    int ring = code.allocateLocal(TypeKind.REFERENCE);
    int shared = code.allocateLocal(TypeKind.LONG);
    int bytes = code.allocateLocal(TypeKind.LONG);
    int record = code.allocateLocal(TypeKind.LONG);
    Label loop = code.newBoundLabel();
    Label go = code.newLabel();
    Label next = code.newLabel();
    code.aload(0)
        .invokestatic(ENCODING, "isChoosing", MethodTypeDesc.of(CD_boolean, TARGET))
        .ifeq(go)
        .aload(0);
    loadArguments(code);
    code.invokestatic(SELF, "isWanted", takes(CD_boolean, TARGET))
        .ifeq(next)
        .labelBinding(go)
        .aload(0)
        .invokevirtual(TARGET, "ring", MethodTypeDesc.of(RING))
        .astore(ring)
        .aload(0)
        .invokestatic(ENCODING, "contextBytes", MethodTypeDesc.of(CD_long, TARGET))
        .dup2()
        .lstore(shared)
        .lload(own)
        .ladd()
        .lstore(bytes)
        .aload(ring)
        .lload(bytes)
        .invokevirtual(RING, "reserve", RESERVE)
        .dup2()
        .lstore(record)
        .lconst_0()
        .lcmp()
        .ifeq(next);
    Label start = code.newBoundLabel();
    store(code, sizes, ring, shared, record);
    code.aload(ring)
        .lload(record)
        .lload(bytes)
        .aload(0)
        .invokevirtual(TARGET, "id", MethodTypeDesc.of(CD_int))
        .invokevirtual(RING, "commit", MethodTypeDesc.of(CD_void, CD_long, CD_long, CD_int));
    Label end = code.newBoundLabel();
    code.aload(ring)
        .invokestatic(
            describe(Reference.class), "reachabilityFence", MethodTypeDesc.of(CD_void, CD_Object))
        .labelBinding(next)
        .aload(0)
        .invokevirtual(TARGET, "next", MethodTypeDesc.of(TARGET))
        .dup()
        .astore(0)
        .ifnonnull(loop)
        .return_();
    Label handler = code.newBoundLabel();
    code.exceptionCatch(start, end, handler, CD_Throwable)
        .aload(ring)
        .lload(record)
        .lload(bytes)
        .invokestatic(ENCODING, "abandon", MethodTypeDesc.of(CD_void, RING, CD_long, CD_long))
        .athrow();
  }

  /**
   * Puts what stands for null in its place, and adds the sizes up; the local that holds the sum.
   */
  private int measure(CodeBuilder code, @Nullable Integer[] sizes) {
    long fixed = 0;
    for (int i = 0; i < sizes.length; i++) {
      FieldKind kind = kinds.get(i);
      ClassDesc type = kind.descriptor();
      if (kind == FieldKind.TEXT) {
        int size = code.allocateLocal(TypeKind.LONG);
        sizes[i] = size;
        code.aload(slot(code, i))
            .invokestatic(ENCODING, "text", MethodTypeDesc.of(type, type))
            .dup()
            .astore(slot(code, i))
            .invokestatic(TEXTS, "size", MethodTypeDesc.of(CD_long, type))
            .lstore(size);
      } else if (kind.isArray()) {
        code.aload(slot(code, i))
            .invokestatic(ENCODING, "array", MethodTypeDesc.of(type, type))
            .astore(slot(code, i));
        fixed += isFixed(i) ? fixedBytes(i) : Integer.BYTES;
      } else {
        fixed += kind.bytes();
      }
    }
    int own = code.allocateLocal(TypeKind.LONG);
    code.loadConstant(fixed);
    for (int i = 0; i < sizes.length; i++) {
      Integer size = sizes[i];
      if (size != null) {
        code.lload(size).ladd();
      } else if (kinds.get(i).isArray() && !isFixed(i)) {
        code.aload(slot(code, i)).arraylength().i2l();
        code.loadConstant((long) elementBytes(kinds.get(i))).lmul().ladd();
      }
    }
    code.lstore(own);
    return own;
  }

  private boolean isFixed(int field) {
    return lengths.get(field) > 0;
  }

  private long fixedBytes(int field) {
    return (long) lengths.get(field) * elementBytes(kinds.get(field));
  }

  private static int elementBytes(FieldKind array) {
    FieldKind element = FieldKind.of(array.type().getComponentType());
    if (element == null) {
      throw new AssertionError(array);
    }
    return element.bytes();
  }

  /** The fields: at constant distances from the last one whose size depends on its value. */
  private void store(
      CodeBuilder code, @Nullable Integer[] sizes, int ring, int shared, int record) {
    int memory = code.allocateLocal(TypeKind.REFERENCE);
    int at = code.allocateLocal(TypeKind.LONG);
    code.aload(ring)
        .invokevirtual(RING, "memory", MethodTypeDesc.of(MEMORY))
        .astore(memory)
        .aload(0)
        .aload(memory)
        .lload(record)
        .lload(shared)
        .invokestatic(
            ENCODING, "begin", MethodTypeDesc.of(CD_long, TARGET, MEMORY, CD_long, CD_long))
        .lstore(at);
    long distance = 0;
    for (int i = 0; i < sizes.length; i++) {
      FieldKind kind = kinds.get(i);
      if (kind == FieldKind.TEXT) {
        code.loadConstant(handle(TEXTS, "store", STORE_TEXT));
      }
      code.aload(memory).lload(at);
      if (distance > 0) {
        code.loadConstant(distance).ladd();
      }
      load(code, i);
      Integer size = sizes[i];
      if (size != null) {
        code.lload(size).invokevirtual(CD_MethodHandle, "invokeExact", STORE_TEXT).lstore(at);
        distance = 0;
      } else if (kind.isArray()) {
        code.loadConstant(lengths.get(i))
            .invokestatic(
                ENCODING,
                "put",
                MethodTypeDesc.of(CD_long, MEMORY, CD_long, kind.descriptor(), CD_int))
            .lstore(at);
        distance = 0;
      } else {
        put(code, kind);
        distance += kind.bytes();
      }
    }
  }

  private static void put(CodeBuilder code, FieldKind kind) {
    ClassDesc type = kind.descriptor();
    MethodTypeDesc takes = MethodTypeDesc.of(CD_void, MEMORY, CD_long, type);
    switch (kind) {
      case BYTE -> code.invokestatic(STORE, "putByte", takes);
      case SHORT -> code.invokestatic(STORE, "putShort", takes);
      case INT -> code.invokestatic(STORE, "putInt", takes);
      case LONG -> code.invokestatic(STORE, "putLong", takes);
      case FLOAT -> code.invokestatic(STORE, "putFloat", takes);
      case DOUBLE -> code.invokestatic(STORE, "putDouble", takes);
      case BOOLEAN, ENUM8 -> code.invokestatic(ENCODING, "put8", takes);
      case CHAR, ENUM16 -> code.invokestatic(ENCODING, "put16", takes);
      default -> throw new AssertionError(kind);
    }
  }

  /** See the head of the class. */
  private static DirectMethodHandleDesc handle(ClassDesc in, String name, MethodTypeDesc type) {
    return MethodHandleDesc.ofMethod(DirectMethodHandleDesc.Kind.STATIC, in, name, type);
  }

  private static ClassDesc describe(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }
}
