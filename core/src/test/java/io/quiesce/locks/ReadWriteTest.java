package io.quiesce.locks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quiesce.linux.OffHeap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The read-write lock; its write lock is also among those of {@link ExclusiveLockTest}. */
@SuppressWarnings({
  "LockNotBeforeTry",
  "WaitNotInLoop",
  "JavaUtilDate",
  "ThreadPriorityCheck"
}) // Short sections.
@Timeout(100)
class ReadWriteTest {
  private final PerCpuReadWriteLock lock = new PerCpuReadWriteLock("data");
  private final Lock read = lock.readLock();
  private final ExclusiveLock write = lock.writeLock();

  // Plain: only the lock orders them.
  private long one;
  private long two;

  /** A reader that sees half of a write, or a writer that meets another, is found. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void readersSeeWholeWrites(boolean virtual) throws InterruptedException {
    AtomicBoolean stop = new AtomicBoolean();
    LongAdder reads = new LongAdder();
    int writes = 600;
    try (Together threads = new Together()) {
      for (int i = 0; i < 4; i++) {
        int salt = i;
        threads.start(
            virtual,
            () -> {
              while (!stop.get()) {
                if (virtual) {
                  // Not yield(): virtual threads that only yield keep those that slept from
                  // running.
                  LockSupport.parkNanos(1_000);
                }
                if (!takeRead(salt)) {
                  continue;
                }
                long before = one;
                if (salt == 3) {
                  LockSupport.parkNanos(1_000); // may come back on another CPU
                }
                assertThat(two).isEqualTo(before);
                read.unlock();
                reads.increment();
              }
            });
      }
      try (Together writers = new Together()) {
        for (int i = 0; i < 2; i++) {
          writers.start(
              virtual,
              () -> {
                for (int j = 0; j < writes; j++) {
                  write.lock();
                  one++;
                  if (j % 8 == 0) {
                    Thread.yield();
                  }
                  for (int k = 0; k < 40; k++) {
                    Thread.onSpinWait(); // long enough for a reader that should not be in
                  }
                  two++;
                  write.unlock();
                }
              });
        }
      } finally {
        stop.set(true);
      }
    }
    assertThat(one).isEqualTo(2L * writes);
    assertThat(two).isEqualTo(one);
    assertThat(reads.sum()).isPositive();
    assertThat(lock.readers()).isZero();
    assertThat(write.tryLock()).isTrue();
  }

  private boolean takeRead(int salt) throws InterruptedException {
    switch (salt) {
      case 0 -> {
        return read.tryLock();
      }
      case 1 -> {
        return read.tryLock(100, TimeUnit.MICROSECONDS);
      }
      default -> read.lock();
    }
    return true;
  }

  @Test
  void readersShare() throws InterruptedException {
    read.lock();
    read.lock();
    assertThat(lock.readers()).isEqualTo(2);
    assertThat(lock.toString()).contains("data").contains("2 readers");
    assertThat(write.tryLock()).isFalse();
    assertThat(write.tryLock(5, TimeUnit.MILLISECONDS)).isFalse();
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            assertThat(read.tryLock()).isTrue();
            read.unlock();
            assertThat(read.tryLock(1, TimeUnit.SECONDS)).isTrue();
            read.unlock();
          });
    }
    read.unlock();
    read.unlock();
    assertThat(write.tryLock()).isTrue();
    assertThat(read.toString()).contains("0 readers");
  }

  @Test
  void aWriterWaitsForThoseThatAreInAndKeepsOthersOut() throws InterruptedException {
    AtomicBoolean written = new AtomicBoolean();
    AtomicBoolean entered = new AtomicBoolean();
    try (Together threads = new Together()) {
      read.lock();
      Thread writer =
          threads.start(
              () -> {
                write.lock();
                assertThat(entered).isFalse();
                written.set(true);
                write.unlock();
              });
      Together.untilParked(writer);
      assertThat(read.tryLock()).isFalse(); // a stream of readers cannot starve it
      assertThat(read.tryLock(2, TimeUnit.MILLISECONDS)).isFalse();
      Thread late =
          threads.start(
              true,
              () -> {
                read.lock();
                entered.set(true);
                assertThat(written).isTrue();
                read.unlock();
              });
      Together.untilParked(late);
      assertThat(written).isFalse();
      read.unlock();
    }
    assertThat(entered).isTrue();
  }

  /** One writer after the other, without a pause: a reader gets in all the same. */
  @Test
  void writersDoNotStarveAReader() throws InterruptedException {
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger writes = new AtomicInteger();
    try (Together threads = new Together()) {
      for (int i = 0; i < 2; i++) {
        threads.start(
            () -> {
              while (!stop.get()) {
                write.lock();
                writes.incrementAndGet();
                write.unlock();
              }
            });
      }
      Together.until("they write", () -> writes.get() > 10);
      for (int i = 0; i < 20; i++) {
        read.lock();
        read.unlock();
      }
      stop.set(true);
    }
  }

  @Test
  void interruptsAndTimeOutsLeaveNothingBehind() throws InterruptedException {
    AtomicInteger thrown = new AtomicInteger();
    try (Together threads = new Together()) {
      read.lock();
      Thread writer =
          threads.start(
              () -> {
                try {
                  write.lockInterruptibly();
                } catch (InterruptedException expected) {
                  thrown.incrementAndGet();
                }
              });
      Together.untilParked(writer);
      Thread reader =
          threads.start(
              () -> {
                try {
                  read.lockInterruptibly();
                } catch (InterruptedException expected) {
                  thrown.incrementAndGet();
                }
              });
      Together.untilParked(reader);
      reader.interrupt();
      reader.join();
      writer.interrupt();
      writer.join();
      assertThat(read.tryLock()).isTrue(); // the writer that gave up keeps nobody out
      read.unlock();
      read.unlock();
    }
    assertThat(thrown).hasValue(2);
    Thread.currentThread().interrupt();
    assertThatThrownBy(read::lockInterruptibly).isInstanceOf(InterruptedException.class);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> read.tryLock(1, TimeUnit.SECONDS))
        .isInstanceOf(InterruptedException.class);
    assertThat(write.tryLock()).isTrue();
  }

  @Test
  void theWriterMayGoOnAsAReader() throws InterruptedException {
    write.lock();
    read.lock();
    assertThat(read.tryLock()).isTrue();
    assertThat(read.tryLock(1, TimeUnit.SECONDS)).isTrue();
    read.lockInterruptibly();
    assertThat(lock.readers()).isEqualTo(4);
    write.unlock();
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            assertThat(write.tryLock()).isFalse();
            assertThat(read.tryLock()).isTrue();
            read.unlock();
          });
    }
    for (int i = 0; i < 4; i++) {
      read.unlock();
    }
    assertThat(write.tryLock()).isTrue();
  }

  @Test
  void anotherThreadMayGiveTheReadLockUp() throws InterruptedException {
    read.lock();
    try (Together threads = new Together()) {
      threads.start(read::unlock);
    }
    assertThat(write.tryLock()).isTrue();
  }

  @Test
  void aReadLockThatNobodyHasIsNoticedInTheDebugMode() {
    assumeTrue(OffHeap.isDebug());
    assertThatThrownBy(read::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(write.tryLock()).isTrue();
    write.unlock();
  }

  @Test
  void conditionsAreTheWriters() throws InterruptedException {
    assertThatThrownBy(read::newCondition).isInstanceOf(UnsupportedOperationException.class);
    Condition changed = write.newCondition();
    CountDownLatch waiting = new CountDownLatch(1);
    try (Together threads = new Together()) {
      threads.start(
          () -> {
            write.lock();
            waiting.countDown();
            while (one == 0) {
              changed.await();
            }
            write.unlock();
          });
      waiting.await();
      write.lock();
      one = 1;
      changed.signal();
      write.unlock();
    }
  }
}
