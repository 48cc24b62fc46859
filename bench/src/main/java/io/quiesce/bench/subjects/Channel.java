package io.quiesce.bench.subjects;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * A bounded queue of messages for one receiver, guarded by a lock. Messages are copied in and out
 * under the lock. Who waits is counted, so that nobody is signalled who does not wait; the same for
 * every lock.
 */
abstract class Channel {
  /** The length of a message. */
  static final int BYTES = 100;

  /** Messages that fit: more than a group has senders, see {@link OfMonitor}. */
  static final int CAPACITY = 64;

  private final byte[] ring = new byte[BYTES * CAPACITY];
  private int first;
  private int size;
  int sendersWaiting;
  boolean receiverWaits;

  abstract void send(byte[] message) throws InterruptedException;

  abstract void receive(byte[] message) throws InterruptedException;

  final boolean isFull() {
    return size == CAPACITY;
  }

  final boolean isEmpty() {
    return size == 0;
  }

  final void add(byte[] message) {
    System.arraycopy(message, 0, ring, (first + size) % CAPACITY * BYTES, BYTES);
    size++;
  }

  final void remove(byte[] message) {
    System.arraycopy(ring, first * BYTES, message, 0, BYTES);
    first = (first + 1) % CAPACITY;
    size--;
  }

  static Channel of(String lock) {
    return lock.equals("synchronized") ? new OfMonitor() : new OfLock(LockWay.newLock(lock));
  }

  /** With two conditions of a lock. */
  static final class OfLock extends Channel {
    private final Lock lock;
    private final Condition notFull;
    private final Condition notEmpty;

    OfLock(Lock lock) {
      this.lock = lock;
      notFull = lock.newCondition();
      notEmpty = lock.newCondition();
    }

    @Override
    void send(byte[] message) throws InterruptedException {
      lock.lock();
      try {
        while (isFull()) {
          sendersWaiting++;
          try {
            notFull.await();
          } finally {
            sendersWaiting--;
          }
        }
        add(message);
        if (receiverWaits) {
          notEmpty.signal();
        }
      } finally {
        lock.unlock();
      }
    }

    @Override
    void receive(byte[] message) throws InterruptedException {
      lock.lock();
      try {
        while (isEmpty()) {
          receiverWaits = true;
          try {
            notEmpty.await();
          } finally {
            receiverWaits = false;
          }
        }
        remove(message);
        if (sendersWaiting > 0) {
          notFull.signal();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * With the one wait set of a monitor. Senders and the receiver are never in it together: from
   * full to empty there are {@link #CAPACITY} removals, more than there are senders, and each of
   * them takes one sender out. So it is enough to notify one.
   */
  static final class OfMonitor extends Channel {
    private final Object monitor = new Object();

    @Override
    void send(byte[] message) throws InterruptedException {
      synchronized (monitor) {
        while (isFull()) {
          sendersWaiting++;
          try {
            monitor.wait();
          } finally {
            sendersWaiting--;
          }
        }
        add(message);
        if (receiverWaits) {
          monitor.notify();
        }
      }
    }

    @Override
    void receive(byte[] message) throws InterruptedException {
      synchronized (monitor) {
        while (isEmpty()) {
          receiverWaits = true;
          try {
            monitor.wait();
          } finally {
            receiverWaits = false;
          }
        }
        remove(message);
        if (sendersWaiting > 0) {
          monitor.notify();
        }
      }
    }
  }
}
