package io.quiesce.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.FieldType;
import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import java.lang.classfile.Annotation;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.RuntimeVisibleAnnotationsAttribute;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;

/** What an interface may say, and what comes of it. */
@NullUnmarked
class TracepointsTest {
  private enum Colour {
    RED,
    GREEN
  }

  enum Empty {}

  private static List<Point> points(String provider) {
    List<Point> points = new ArrayList<>();
    Points.forEach(
        point -> {
          if (point.provider().equals(provider)) {
            points.add(point);
          }
        });
    points.sort((a, b) -> a.name().compareTo(b.name()));
    return points;
  }

  private interface Base {
    @Tracepoint
    void inherited(int n);
  }

  @TracepointProvider
  private interface Defaults extends Base {
    @Tracepoint
    void first(long id, @TracepointField(name = "a colour") Colour colour, char[] letters);

    @Tracepoint(name = "2nd", level = TraceLevel.ERROR)
    void second();

    @TracepointEnabled("2nd")
    boolean wantsSecond();

    default String both(int n) {
      first(n, Colour.RED, null);
      second();
      return "done " + helper(n);
    }

    private int helper(int n) {
      return n + 1;
    }

    static int constant() {
      return 7;
    }

    @Override
    String toString();

    @Override
    boolean equals(Object other);
  }

  @Test
  void namesLevelsAndFields() {
    Defaults made = Tracepoints.of(MethodHandles.lookup(), Defaults.class);
    List<Point> points = points("defaults");
    assertThat(points).extracting(Point::name).containsExactly("2nd", "first", "inherited");
    assertThat(points).extracting(Point::level).containsExactly(3, 6, 6);
    assertThat(points.get(0).fields()).isEmpty();
    FieldType.Int u8 = new FieldType.Int(8, false, 10);
    assertThat(points.get(1).fields())
        .containsExactly(
            Field.signed("id", 64),
            new Field(
                "a colour",
                new FieldType.Enumeration(
                    u8,
                    List.of(
                        new FieldType.Label("RED", 0, 0),
                        new FieldType.Label("GREEN", 1, 1),
                        new FieldType.Label("null", 255, 255)))),
            Field.sequence("letters", new FieldType.Int(16, false, 10)));
    assertThat(made.both(3)).isEqualTo("done 4");
    made.inherited(1);
    assertThat(made.wantsSecond()).isFalse();
    assertThat(Defaults.constant()).isEqualTo(7);
    assertThat(made).isNotEqualTo(Tracepoints.of(MethodHandles.lookup(), Defaults.class));
    assertThat(points("defaults")).hasSize(3);
  }

  @Test
  void theClassIsOfTheCallersPackageAndNamesNothingInternal() {
    Defaults made = Tracepoints.of(MethodHandles.lookup(), Defaults.class);
    assertThat(made.getClass().isHidden()).isTrue();
    assertThat(made.getClass().getPackage()).isSameAs(TracepointsTest.class.getPackage());
    assertThat(made.getClass().getDeclaredFields())
        .extracting(field -> field.getType().getPackageName())
        .containsOnly("java.lang.invoke");
  }

  @Test
  void levelsAreLttngs() {
    assertThat(TraceLevel.values()).hasSize(15);
    assertThat(TraceLevel.EMERGENCY.number()).isZero();
    assertThat(TraceLevel.WARNING.number()).isEqualTo(4);
    assertThat(TraceLevel.INFO.number()).isEqualTo(6);
    assertThat(TraceLevel.DEBUG_LINE.number()).isEqualTo(13);
    assertThat(TraceLevel.DEBUG.number()).isEqualTo(14);
  }

  private static void refused(Class<?> type, String... parts) {
    assertThatThrownBy(() -> Tracepoints.of(MethodHandles.lookup(), type))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(type.getName())
        .message()
        .contains(parts)
        .doesNotContain("\n");
  }

  interface Unmarked {}

  @TracepointProvider
  static final class NoInterface {}

  @TracepointProvider
  sealed interface Sealed {}

  @TracepointProvider
  non-sealed interface Open extends Sealed {}

  @TracepointProvider
  @interface Marker {}

  @Test
  void types() throws Exception {
    refused(Unmarked.class, "@TracepointProvider");
    refused(NoInterface.class, "no interface");
    refused(Marker.class, "no interface");
    refused(Sealed.class, "sealed");
    assertThat(Tracepoints.of(MethodHandles.lookup(), Open.class)).isNotNull();
    byte[] hidden =
        ClassFile.of()
            .build(
                ClassDesc.of("io.quiesce.trace.Hidden"),
                builder ->
                    builder
                        .withFlags(ClassFile.ACC_INTERFACE | ClassFile.ACC_ABSTRACT)
                        .with(
                            RuntimeVisibleAnnotationsAttribute.of(
                                Annotation.of(
                                    TracepointProvider.class.describeConstable().orElseThrow()))));
    refused(MethodHandles.lookup().defineHiddenClass(hidden, false).lookupClass(), "hidden class");
    assertThatThrownBy(() -> Tracepoints.of(MethodHandles.publicLookup(), Defaults.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("full privileges");
    assertThatThrownBy(
            () ->
                Tracepoints.of(
                    MethodHandles.privateLookupIn(Point.class, MethodHandles.lookup()),
                    Defaults.class))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("give a lookup of the class that declares it");
  }

  @TracepointProvider
  interface OfObject {
    @Tracepoint
    void event(int fine, Object wrong);
  }

  @TracepointProvider
  interface OfSequence {
    @Tracepoint
    void event(CharSequence wrong);
  }

  @TracepointProvider
  interface OfTexts {
    @Tracepoint
    void event(String[] wrong);
  }

  @TracepointProvider
  interface OfEmpty {
    @Tracepoint
    void event(Empty wrong);
  }

  @TracepointProvider
  interface HexText {
    @Tracepoint
    void event(@TracepointField(hex = true) String text);
  }

  @TracepointProvider
  interface LongText {
    @Tracepoint
    void event(@TracepointField(length = 3) String text);
  }

  @TracepointProvider
  interface OneName {
    @Tracepoint
    void event(int a, @TracepointField(name = "a") int b);
  }

  @Test
  void parameters() {
    refused(OfObject.class, "event(int, Object)", "wrong", "java.lang.Object", "String", "enums");
    refused(OfSequence.class, "event", "wrong", "CharSequence", "allowed are");
    refused(OfTexts.class, "wrong", "java.lang.String[]", "allowed are");
    refused(OfEmpty.class, "wrong", "enums with constants");
    refused(LongText.class, "length = 3", "text", "java.lang.String", "allowed are");
    refused(HexText.class, "hex", "text", "java.lang.String", "allowed are");
    refused(OneName.class, "event", "two fields with the name a");
  }

  @TracepointProvider
  interface Returns {
    @Tracepoint
    int event();
  }

  @TracepointProvider
  interface Overloaded {
    @Tracepoint
    void event(int a);

    @Tracepoint(name = "other")
    void event(long a);
  }

  @TracepointProvider
  interface Twice {
    @Tracepoint
    void event();

    @Tracepoint(name = "event")
    void other();
  }

  @TracepointProvider
  interface Generic {
    @Tracepoint
    <T extends Enum<T>> void event(T value);
  }

  @TracepointProvider
  interface Bare {
    void event();
  }

  @TracepointProvider
  interface BothMarks {
    @Tracepoint
    @TracepointEnabled("x")
    void event();
  }

  @TracepointProvider
  interface Body {
    @Tracepoint
    default void event() {}
  }

  @TracepointProvider
  interface AsksNobody {
    @TracepointEnabled("event")
    boolean eventEnabled();
  }

  @TracepointProvider
  interface AsksBadly {
    @Tracepoint
    void event();

    @TracepointEnabled("event")
    boolean eventEnabled(int n);
  }

  @Test
  void methods() {
    refused(Returns.class, "event()", "returns int", "void");
    refused(Overloaded.class, "event", "overloaded");
    refused(Twice.class, "name of another tracepoint, event");
    refused(Generic.class, "event", "generic");
    refused(Bare.class, "event", "neither");
    refused(BothMarks.class, "event", "both");
    refused(Body.class, "event", "body");
    refused(AsksNobody.class, "eventEnabled", "event, which the interface does not have");
    refused(AsksBadly.class, "eventEnabled(int)", "return boolean");
  }

  /** An interface with one tracepoint of so many long parameters, as a class of this package. */
  private static Class<?> wide(int longs) throws IllegalAccessException {
    ClassDesc provider = TracepointProvider.class.describeConstable().orElseThrow();
    ClassDesc tracepoint = Tracepoint.class.describeConstable().orElseThrow();
    byte[] bytes =
        ClassFile.of()
            .build(
                ClassDesc.of("io.quiesce.trace.Wide" + longs),
                builder ->
                    builder
                        .withFlags(ClassFile.ACC_INTERFACE | ClassFile.ACC_ABSTRACT)
                        .with(RuntimeVisibleAnnotationsAttribute.of(Annotation.of(provider)))
                        .withMethod(
                            "event",
                            MethodTypeDesc.of(
                                ConstantDescs.CD_void,
                                Collections.nCopies(longs, ConstantDescs.CD_long)),
                            ClassFile.ACC_PUBLIC | ClassFile.ACC_ABSTRACT,
                            method ->
                                method.with(
                                    RuntimeVisibleAnnotationsAttribute.of(
                                        Annotation.of(tracepoint)))));
    return MethodHandles.lookup().defineClass(bytes);
  }

  @Test
  void asManyParametersAsAMethodHandleTakes() throws Exception {
    Class<?> most = wide(125);
    Object made = Tracepoints.of(MethodHandles.lookup(), most);
    Object[] arguments = Collections.nCopies(125, 1L).toArray();
    assertThat(most.getMethods()[0].invoke(made, arguments)).isNull();
    Point point = points("wide125").getFirst();
    assertThat(point.fields()).hasSize(125);
    assertThat(point.fields().get(3).name()).isEqualTo("arg3");
    refused(wide(126), "252 words", "250 is the most");
  }
}
