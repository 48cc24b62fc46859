package io.quiesce.bench.subjects;

import io.quiesce.linux.CpuAffinity;
import io.quiesce.linux.CpuSet;
import io.quiesce.linux.OffHeap;
import io.quiesce.percpu.PerCpuStack;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A list that threads put elements on and take elements from. */
interface ListWay {
  /** What one thread holds. Values are 1, 2, 3 ... over all threads. */
  interface Hand {
    /** {@link Team#BATCH} times: puts the element in hand, takes one; adds up what it took. */
    long batch();
  }

  /** A hand with one element, and {@code spare} more of its on the list. */
  Hand hand(int spare);

  /** Takes all elements off the list, by one thread, and adds up the values in list and hands. */
  long drain();

  /** The sum of the values of all elements ever made. */
  long made();

  static ListWay of(String name) {
    return switch (name) {
      case "quiesce" -> new Ours();
      case "queue" -> new OfQueue(new ConcurrentLinkedQueue<>());
      case "deque" -> new OfDeque(new ConcurrentLinkedDeque<>());
      case "treiber" -> new Treiber();
      default -> throw new IllegalArgumentException("no list is called '" + name + "'");
    };
  }

  /** Off-heap nodes of a cache line: the link, the value. */
  final class Ours implements ListWay {
    private static final long VALUE = 8;
    private final PerCpuStack stack = PerCpuStack.create();
    private final List<OurHand> hands = new ArrayList<>();
    private long last;

    private synchronized long node() {
      long node = OffHeap.allocate(64, 64);
      OffHeap.putLong(node + VALUE, ++last);
      return node;
    }

    @Override
    public synchronized Hand hand(int spare) {
      for (int i = 0; i < spare; i++) {
        stack.push(node());
      }
      OurHand hand = new OurHand(stack, this, node());
      hands.add(hand);
      return hand;
    }

    /** A thread takes from the row of its CPU, so it visits all of them. The nodes go back. */
    @Override
    public synchronized long drain() {
      List<Long> nodes = new ArrayList<>();
      CpuSet allowed = CpuAffinity.isAvailable() ? CpuAffinity.get() : CpuSet.empty();
      try {
        for (int cpu : allowed.toArray()) {
          CpuAffinity.pinTo(cpu);
          takeAll(nodes);
        }
      } finally {
        if (!allowed.isEmpty()) {
          CpuAffinity.set(allowed);
        }
      }
      takeAll(nodes);
      long sum = 0;
      for (long node : nodes) {
        sum += OffHeap.getLong(node + VALUE);
        stack.push(node);
      }
      for (OurHand hand : hands) {
        sum += OffHeap.getLong(hand.held + VALUE);
      }
      return sum;
    }

    private void takeAll(List<Long> nodes) {
      for (long node = stack.pop(); node != 0; node = stack.pop()) {
        nodes.add(node);
      }
    }

    @Override
    public synchronized long made() {
      return last * (last + 1) / 2;
    }
  }

  /** Holds an address. */
  final class OurHand implements Hand {
    private final PerCpuStack stack;
    private final Ours list;
    private long held;

    OurHand(PerCpuStack stack, Ours list, long held) {
      this.stack = stack;
      this.list = list;
      this.held = held;
    }

    /** Moved to a CPU with an empty row between push and pop, a thread needs another node. */
    @Override
    public long batch() {
      long sum = 0;
      long node = held;
      for (int i = 0; i < Team.BATCH; i++) {
        stack.push(node);
        node = stack.pop();
        if (node == 0) {
          node = list.node();
        }
        sum += OffHeap.getLong(node + Ours.VALUE);
      }
      held = node;
      return sum;
    }
  }

  /** An element of the peers. */
  record Node(long value) {}

  /** What the lists of Java have in common. */
  abstract class Peer implements ListWay {
    private final List<PeerHand> hands = new ArrayList<>();
    private long last;

    abstract void put(Node node);

    abstract @Nullable Node take();

    abstract PeerHand hand(Node held);

    @Override
    public final synchronized Hand hand(int spare) {
      for (int i = 0; i < spare; i++) {
        put(new Node(++last));
      }
      PeerHand hand = hand(new Node(++last));
      hands.add(hand);
      return hand;
    }

    @Override
    public final synchronized long drain() {
      Collection<Node> nodes = new ArrayList<>();
      for (Node node = take(); node != null; node = take()) {
        nodes.add(node);
      }
      long sum = 0;
      for (Node node : nodes) {
        sum += node.value();
        put(node);
      }
      for (PeerHand hand : hands) {
        sum += hand.held.value();
      }
      return sum;
    }

    @Override
    public final synchronized long made() {
      return last * (last + 1) / 2;
    }
  }

  /** Holds an object. */
  abstract class PeerHand implements Hand {
    Node held;

    PeerHand(Node held) {
      this.held = held;
    }
  }

  /** First in, first out. */
  final class OfQueue extends Peer {
    private final ConcurrentLinkedQueue<Node> queue;

    OfQueue(ConcurrentLinkedQueue<Node> queue) {
      this.queue = queue;
    }

    @Override
    void put(Node node) {
      queue.offer(node);
    }

    @Override
    @Nullable Node take() {
      return queue.poll();
    }

    @Override
    PeerHand hand(Node held) {
      ConcurrentLinkedQueue<Node> shared = queue;
      return new PeerHand(held) {
        @Override
        public long batch() {
          long sum = 0;
          Node node = this.held;
          for (int i = 0; i < Team.BATCH; i++) {
            shared.offer(node);
            node = some(shared.poll());
            sum += node.value();
          }
          this.held = node;
          return sum;
        }
      };
    }
  }

  /** Last in, first out. */
  final class OfDeque extends Peer {
    private final ConcurrentLinkedDeque<Node> deque;

    OfDeque(ConcurrentLinkedDeque<Node> deque) {
      this.deque = deque;
    }

    @Override
    void put(Node node) {
      deque.push(node);
    }

    @Override
    @Nullable Node take() {
      return deque.pollFirst();
    }

    @Override
    PeerHand hand(Node held) {
      ConcurrentLinkedDeque<Node> shared = deque;
      return new PeerHand(held) {
        @Override
        public long batch() {
          long sum = 0;
          Node node = this.held;
          for (int i = 0; i < Team.BATCH; i++) {
            shared.push(node);
            node = some(shared.pollFirst());
            sum += node.value();
          }
          this.held = node;
          return sum;
        }
      };
    }
  }

  /**
   * A Treiber stack. Its links are fresh objects for each push, as those of ConcurrentLinkedQueue
   * are: reusing the elements themselves would be open to ABA.
   */
  final class Treiber extends Peer {
    private record Link(Node node, @Nullable Link next) {}

    private final AtomicReference<@Nullable Link> top = new AtomicReference<>();

    @Override
    void put(Node node) {
      Link old;
      Link link;
      do {
        old = top.get();
        link = new Link(node, old);
      } while (!top.compareAndSet(old, link));
    }

    @Override
    @Nullable Node take() {
      Link old;
      do {
        old = top.get();
        if (old == null) {
          return null;
        }
      } while (!top.compareAndSet(old, old.next()));
      return old.node();
    }

    @Override
    PeerHand hand(Node held) {
      return new PeerHand(held) {
        @Override
        public long batch() {
          long sum = 0;
          Node node = this.held;
          for (int i = 0; i < Team.BATCH; i++) {
            put(node);
            node = some(take());
            sum += node.value();
          }
          this.held = node;
          return sum;
        }
      };
    }
  }

  /** There is one: whoever takes has put before. */
  private static Node some(@Nullable Node node) {
    if (node == null) {
      throw new IllegalStateException("a list was empty right after something was put on it");
    }
    return node;
  }
}
