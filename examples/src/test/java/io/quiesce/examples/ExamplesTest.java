package io.quiesce.examples;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ExamplesTest {
  @Test
  void guardedMappedFile() throws Exception {
    GuardedMappedFile.main(new String[0]);
  }

  @Test
  void rcuMappedIndex() throws Exception {
    RcuMappedIndex.main(new String[0]);
  }

  @Test
  void reloadedConfig() throws Exception {
    ReloadedConfig.main(new String[0]);
  }

  @Test
  void eventLoop() throws Exception {
    EventLoop.main(new String[0]);
  }

  @Test
  void requestMetrics() throws Exception {
    RequestMetrics.main(new String[0]);
  }

  @Test
  void messageBlocks() throws Exception {
    MessageBlocks.main(new String[0]);
  }
}
