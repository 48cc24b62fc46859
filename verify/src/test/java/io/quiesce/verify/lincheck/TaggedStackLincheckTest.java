package io.quiesce.verify.lincheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.percpu.TaggedStacks;
import java.util.ArrayDeque;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * The stack with a tag is linearizable, at the exchange of its head, with nodes that are used again
 * as soon as they are popped, the longest free one first: what an untagged stack cannot stand.
 *
 * <p>Longer: {@code -Dquiesce.verify.long=N} multiplies iterations by N.
 */
class TaggedStackLincheckTest {
  private static final int TIMES = Integer.getInteger("quiesce.verify.long", 1);

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .iterations(15 * TIMES)
        .invocationsPerIteration(400)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(2)
        .actorsAfter(2)
        .sequentialSpecification(Sequential.class);
  }

  @Test
  void everyInterleavingOfShortScenariosIsLinearizable() {
    LinChecker.check(Healthy.class, modelChecking());
  }

  @Test
  void stressedHistoriesAreLinearizable() {
    LinChecker.check(
        Healthy.class,
        new StressOptions()
            .iterations(10 * TIMES)
            .invocationsPerIteration(1_000)
            .threads(3)
            .actorsPerThread(3)
            .actorsBefore(2)
            .actorsAfter(2)
            .sequentialSpecification(Sequential.class));
  }

  @Test
  void aStackWithoutTagIsFoundByModelChecking() {
    ModelCheckingOptions options =
        modelChecking()
            .iterations(300)
            .minimizeFailedScenario(false)
            .invocationsPerIteration(1_500);
    assertThatThrownBy(() -> LinChecker.check(Broken.class, options))
        .satisfies(found -> assertThat(found.getMessage()).contains("Invalid execution results"));
  }

  /** Values on nodes of which the one that is free for longest is used next. */
  static class Values {
    private final TaggedStacks stack;
    private final int[] values = new int[65];
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private int fresh;

    Values(TaggedStacks stack) {
      this.stack = stack;
    }

    final void pushValue(int value) {
      int node;
      synchronized (free) {
        node = free.isEmpty() ? ++fresh : free.removeFirst();
      }
      values[node] = value;
      stack.push(node);
    }

    final int popValue() {
      int node = stack.pop();
      return node == 0 ? 0 : release(node);
    }

    private int release(int node) {
      int value = values[node];
      synchronized (free) {
        free.addLast(node);
      }
      return value;
    }

    final String takeAllValues() {
      StringBuilder text = new StringBuilder();
      for (int node = stack.takeAll(); node != 0; ) {
        int next = stack.next(node);
        text.append(release(node));
        node = next;
      }
      return text.toString();
    }
  }

  /** The library's stack. */
  @Param(name = "value", gen = IntGen.class, conf = "1:5")
  public static class Healthy {
    private final Values values = new Values(TaggedStacks.healthy(64, 0));

    /** By any thread. */
    @Operation
    public void push(@Param(name = "value") int value) {
      values.pushValue(value);
    }

    /** By any thread. */
    @Operation
    public int pop() {
      return values.popValue();
    }

    /** By any thread. */
    @Operation
    public String takeAll() {
      return values.takeAllValues();
    }
  }

  /** The twin whose tag never changes. */
  @Param(name = "value", gen = IntGen.class, conf = "1:5")
  public static class Broken {
    private final Values values = new Values(TaggedStacks.untagged(64, 0));

    /** By any thread. */
    @Operation
    public void push(@Param(name = "value") int value) {
      values.pushValue(value);
    }

    /** By any thread. */
    @Operation
    public int pop() {
      return values.popValue();
    }
  }

  /** What both must look like. */
  public static class Sequential {
    private final ArrayDeque<Integer> values = new ArrayDeque<>();

    /** Adds. */
    public void push(int value) {
      values.push(value);
    }

    /** Takes one. */
    public int pop() {
      Integer value = values.poll();
      return value == null ? 0 : value;
    }

    /** Takes all. */
    public String takeAll() {
      StringBuilder text = new StringBuilder();
      values.forEach(text::append);
      values.clear();
      return text.toString();
    }
  }
}
