package io.quiesce.cli;

import io.quiesce.bench.Progress;
import java.io.PrintWriter;
import java.time.Duration;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jspecify.annotations.Nullable;

/** A bar on a terminal; elsewhere a plain line now and then, so that logs stay short. */
final class ConsoleProgress implements Progress, AutoCloseable {
  private static final long LINE_EVERY = Duration.ofSeconds(10).toNanos();

  private final PrintWriter err;
  private final boolean terminal;
  private @Nullable ProgressBar bar;
  private long lastLine = System.nanoTime() - LINE_EVERY;

  ConsoleProgress(PrintWriter err) {
    this(err, Boolean.getBoolean("quiesce.terminal"));
  }

  ConsoleProgress(PrintWriter err, boolean terminal) {
    this.err = err;
    this.terminal = terminal;
  }

  @Override
  public void step(int done, int total, String what) {
    if (terminal) {
      ProgressBar shown = bar;
      if (shown == null) {
        shown =
            new ProgressBarBuilder()
                .setTaskName("bench")
                .setInitialMax(total)
                .setStyle(ProgressBarStyle.UNICODE_BLOCK)
                .setUpdateIntervalMillis(500)
                .clearDisplayOnFinish()
                .build();
        bar = shown;
      }
      shown.stepTo(done);
      shown.setExtraMessage(" " + what);
      return;
    }
    long now = System.nanoTime();
    if (now - lastLine >= LINE_EVERY) {
      lastLine = now;
      err.printf("%3d%%  %s%n", 100L * done / Math.max(1, total), what);
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
