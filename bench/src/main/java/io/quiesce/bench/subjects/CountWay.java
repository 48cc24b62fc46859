package io.quiesce.bench.subjects;

import io.quiesce.percpu.PerCpuCounter;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A kind of counter. It works on bare objects, so that memory is that of the counter alone, and the
 * loop is in here, so that the compiler knows the counter's class.
 */
interface CountWay {
  Object make();

  void increment(Object counter, int times);

  long sum(Object counter);

  static CountWay of(String name) {
    return switch (name) {
      case "quiesce" -> new Ours();
      case "adder" -> new Adder();
      case "atomic" -> new Atomic();
      default -> throw new IllegalArgumentException("no counter is called '" + name + "'");
    };
  }

  /** The library's. */
  final class Ours implements CountWay {
    @Override
    public Object make() {
      return PerCpuCounter.create();
    }

    @Override
    public void increment(Object counter, int times) {
      PerCpuCounter one = (PerCpuCounter) counter;
      for (int i = 0; i < times; i++) {
        one.increment();
      }
    }

    @Override
    public long sum(Object counter) {
      return ((PerCpuCounter) counter).sum();
    }
  }

  /** What Java has for contended counters. */
  final class Adder implements CountWay {
    @Override
    public Object make() {
      return new LongAdder();
    }

    @Override
    public void increment(Object counter, int times) {
      LongAdder one = (LongAdder) counter;
      for (int i = 0; i < times; i++) {
        one.increment();
      }
    }

    @Override
    public long sum(Object counter) {
      return ((LongAdder) counter).sum();
    }
  }

  /** One word for all. */
  final class Atomic implements CountWay {
    @Override
    public Object make() {
      return new AtomicLong();
    }

    @Override
    public void increment(Object counter, int times) {
      AtomicLong one = (AtomicLong) counter;
      for (int i = 0; i < times; i++) {
        one.getAndIncrement();
      }
    }

    @Override
    public long sum(Object counter) {
      return ((AtomicLong) counter).get();
    }
  }
}
