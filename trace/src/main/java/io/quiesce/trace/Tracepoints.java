package io.quiesce.trace;

import io.quiesce.trace.point.Encoders;
import io.quiesce.trace.point.Point;
import io.quiesce.trace.point.Points;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the tracepoints of an interface work.
 *
 * <pre>{@code
 * @TracepointProvider("shop")
 * interface Shop {
 *   @Tracepoint(level = TraceLevel.INFO)
 *   void orderPlaced(long id, int qty, String symbol);
 *
 *   @TracepointEnabled("orderPlaced")
 *   boolean orderPlacedEnabled();
 *
 *   Shop SHOP = Tracepoints.of(MethodHandles.lookup(), Shop.class);
 * }
 * }</pre>
 *
 * <p>A call of {@code SHOP.orderPlaced(4711, 3, "QSC")} is the event {@code shop:orderPlaced} of
 * each session that has turned it on. While nobody has, it is one load and one branch. It never
 * blocks, and throws nothing of its own; an event that finds no space is lost and counted.
 *
 * <p>Parameters and what traces hold:
 *
 * <ul>
 *   <li>{@code byte, short, int, long}: signed integers; {@code char, boolean}: unsigned, of 16 and
 *       8 bits
 *   <li>{@code float, double}: as they are, NaNs too
 *   <li>{@link String}: text in UTF-8; null is the text {@code null}. NUL and lone surrogates
 *       become U+FFFD
 *   <li>an enum: its constant, with the names in the trace's metadata; null has the label {@code
 *       null}
 *   <li>an array of a primitive type: a sequence; null is an empty one. Elements that change
 *       meanwhile are old or new in the event
 * </ul>
 *
 * <p>Other objects are refused, since their {@code toString} could do anything: pass the text.
 * Methods with a body stay as they are. Tracepoints with the same name, level and fields are the
 * same, even from two class loaders.
 *
 * <p>Thread-safe, and so is what it returns. The result belongs into a {@code static final} field:
 * the compiler then knows it, and a call becomes the stores themselves.
 *
 * <p>Source: LTTng-UST's tracepoint providers (2009).
 */
public final class Tracepoints {
  private Tracepoints() {}

  /**
   * An instance of the interface whose tracepoints lead to the sessions. Each call makes a new one,
   * for the same tracepoints.
   *
   * @param <T> the interface
   * @param lookup {@code MethodHandles.lookup()} of a class that may use the interface, such as the
   *     one that declares it
   * @param type the interface; it need not be public
   * @return to be kept in a {@code static final} field
   * @throws IllegalArgumentException in one sentence if the interface cannot be a provider, or the
   *     lookup cannot use it
   */
  public static <T> T of(MethodHandles.Lookup lookup, Class<T> type) {
    if (!lookup.hasFullPrivilegeAccess()) {
      throw new IllegalArgumentException(
          "Tracepoints of "
              + type.getName()
              + " need a lookup with full privileges, as MethodHandles.lookup() gives, not "
              + lookup);
    }
    ProviderShape shape = ProviderShape.of(type);
    Map<String, Point> points = new HashMap<>();
    List<MethodHandle> handles = new ArrayList<>();
    for (ProviderShape.Event event : shape.events()) {
      Point point = Points.of(shape.provider(), event.name(), event.level(), event.fields());
      points.put(event.name(), point);
      handles.add(Encoders.encoder(point, event.kinds(), event.lengths()));
    }
    for (ProviderShape.Question question : shape.questions()) {
      Point point = points.get(question.event());
      if (point == null) {
        throw new AssertionError(question); // The shape has checked it.
      }
      handles.add(Encoders.question(point));
    }
    return ProviderClass.instance(lookup, type, shape, handles);
  }
}
