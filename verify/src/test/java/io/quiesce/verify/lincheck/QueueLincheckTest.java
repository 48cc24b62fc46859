package io.quiesce.verify.lincheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.percpu.WaitFreeQueue;
import io.quiesce.verify.BrokenQueue;
import java.util.ArrayDeque;
import org.jetbrains.kotlinx.lincheck.LinChecker;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Test;

/**
 * {@link WaitFreeQueue} is linearizable: enqueue at the exchange of the tail, the consumer's
 * operations at their look at the tail or the link. Consumers are one group that never runs in
 * parallel. {@code dequeueNonBlocking} is not here, since "would block" has no place in a
 * sequential history; jcstress has it. The queue lives in heap fields, which Lincheck follows.
 *
 * <p>Longer: {@code -Dquiesce.verify.long=N} multiplies iterations by N.
 */
class QueueLincheckTest {
  private static final int TIMES = Integer.getInteger("quiesce.verify.long", 1);

  private static ModelCheckingOptions modelChecking() {
    return new ModelCheckingOptions()
        .iterations(15 * TIMES)
        .invocationsPerIteration(250)
        .threads(3)
        .actorsPerThread(2)
        .actorsBefore(1)
        .actorsAfter(2)
        .sequentialSpecification(Sequential.class);
  }

  private static StressOptions stress() {
    return new StressOptions()
        .iterations(15 * TIMES)
        .invocationsPerIteration(1_000)
        .threads(3)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(2)
        .sequentialSpecification(Sequential.class);
  }

  @Test
  void everyInterleavingOfShortScenariosIsLinearizable() {
    LinChecker.check(Healthy.class, modelChecking());
  }

  @Test
  void stressedHistoriesAreLinearizable() {
    LinChecker.check(Healthy.class, stress());
  }

  @Test
  void aQueueWithoutTheExchangeIsFoundByModelChecking() {
    assertThatThrownBy(() -> LinChecker.check(Broken.class, modelChecking()))
        .satisfies(found -> assertThat(found.getMessage()).contains("Invalid execution results"));
  }

  @Test
  void aQueueWithoutTheExchangeIsFoundByStress() {
    StressOptions options = stress().iterations(200).minimizeFailedScenario(false);
    assertThatThrownBy(() -> LinChecker.check(Broken.class, options))
        .satisfies(found -> assertThat(found.getMessage()).contains("Invalid execution results"));
  }

  /** The library's queue. */
  @Param(name = "value", gen = IntGen.class, conf = "1:5")
  public static class Healthy {
    private static final class Item extends WaitFreeQueue.Node {
      private final int value;

      Item(int value) {
        this.value = value;
      }
    }

    private final WaitFreeQueue queue = new WaitFreeQueue();

    /** By any thread. */
    @Operation
    public boolean enqueue(@Param(name = "value") int value) {
      return queue.enqueue(new Item(value));
    }

    /** By the consumer. */
    @Operation(nonParallelGroup = "consumer")
    public int dequeue() {
      return queue.dequeueBlocking() instanceof Item item ? item.value : 0;
    }

    /** By the consumer. */
    @Operation(nonParallelGroup = "consumer")
    public String splice() {
      StringBuilder text = new StringBuilder();
      WaitFreeQueue.Batch batch = queue.splice();
      while (batch.poll() instanceof Item item) {
        text.append(item.value);
      }
      return text.toString();
    }

    /** By any thread. */
    @Operation
    public boolean isEmpty() {
      return queue.isEmpty();
    }
  }

  /** The twin whose producers load and store the tail. */
  @Param(name = "value", gen = IntGen.class, conf = "1:5")
  public static class Broken {
    private final BrokenQueue queue = new BrokenQueue();

    /** By any thread. */
    @Operation
    public boolean enqueue(@Param(name = "value") int value) {
      return queue.enqueue(value);
    }

    /** By the consumer. */
    @Operation(nonParallelGroup = "consumer")
    public int dequeue() {
      return queue.dequeue();
    }
  }

  /** What both must look like. */
  public static class Sequential {
    private final ArrayDeque<Integer> values = new ArrayDeque<>();

    /** Adds. */
    public boolean enqueue(int value) {
      boolean held = !values.isEmpty();
      values.add(value);
      return held;
    }

    /** Takes one. */
    public int dequeue() {
      Integer value = values.poll();
      return value == null ? 0 : value;
    }

    /** Takes all. */
    public String splice() {
      StringBuilder text = new StringBuilder();
      values.forEach(text::append);
      values.clear();
      return text.toString();
    }

    /** Looks. */
    public boolean isEmpty() {
      return values.isEmpty();
    }
  }
}
