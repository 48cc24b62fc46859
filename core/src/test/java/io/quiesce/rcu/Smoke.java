package io.quiesce.rcu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A main class that needs java.base only: in every flavour, readers on platform and virtual threads
 * look for values that were poisoned too early, while updaters replace, call, retire and wait.
 */
final class Smoke {
  private static final class Value {
    volatile boolean poisoned;
  }

  private Smoke() {}

  public static void main(String[] arguments) throws Exception {
    long millis = Long.parseLong(arguments[0]);
    for (Rcu.Flavour flavour : Rcu.Flavour.values()) {
      run(flavour, millis);
    }
    Guarded<Value> shared = Guarded.of(new Value(), value -> value.poisoned = true);
    shared.read().close();
    shared.closeAndWait(java.time.Duration.ofSeconds(20));
    System.out.println("default " + Rcu.shared());
    System.out.println("smoke passed");
  }

  private static void run(Rcu.Flavour flavour, long millis) throws Exception {
    AtomicInteger poisoned = new AtomicInteger();
    AtomicBoolean stop = new AtomicBoolean();
    int updates = 0;
    try (Rcu rcu = Rcu.builder("smoke").flavour(flavour).build()) {
      RcuRef<Value> ref = rcu.ref(new Value());
      List<Thread> readers = new ArrayList<>();
      for (int t = 0; t < 2; t++) {
        Thread.Builder kind = t == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
        readers.add(
            kind.start(
                () -> {
                  while (!stop.get()) {
                    for (int i = 0; i < 100; i++) {
                      try (Section s = rcu.read()) {
                        Value value = ref.get(s);
                        if (i == 0) {
                          Thread.yield();
                        }
                        if (value.poisoned) {
                          poisoned.getAndIncrement();
                        }
                      }
                    }
                  }
                }));
      }
      long until = System.nanoTime() + millis * 1_000_000;
      while (System.nanoTime() - until < 0) {
        Value old = ref.getAndSet(new Value());
        switch (updates++ % 3) {
          case 0 -> rcu.call(() -> old.poisoned = true);
          case 1 -> rcu.retire((address, bytes) -> old.poisoned = true, 64, 64);
          default -> {
            rcu.synchronize();
            old.poisoned = true;
          }
        }
      }
      rcu.barrier();
      stop.set(true);
      for (Thread reader : readers) {
        reader.join();
      }
    }
    if (poisoned.get() != 0 || updates == 0) {
      System.out.println(flavour + ": " + poisoned + " poisoned reads in " + updates + " updates");
      System.exit(1);
    }
    System.out.println(flavour + " fine");
  }
}
