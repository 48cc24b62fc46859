package io.quiesce.trace.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.ContextField;
import io.quiesce.trace.TraceFormat;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentOptionsTest {
  @Test
  void inLine() throws Exception {
    AgentOptions options =
        AgentOptions.parse("output=x y,mode=overwrite,enable=a:*;b:c,level=warning,budget=64M");
    assertThat(options.output()).isEqualTo(Path.of("x y"));
    assertThat(options.overwrite()).isTrue();
    assertThat(options.patterns()).containsExactly("a:*", "b:c");
    assertThat(options.level()).isEqualTo(4);
    assertThat(options.budget()).isEqualTo(64 << 20);
    assertThat(options.exitOnFailure()).isFalse();
    assertThat(options.format()).isEqualTo(TraceFormat.CTF_1_8);
    assertThat(AgentOptions.parse("format=ctf-2").format()).isEqualTo(TraceFormat.CTF_2);
  }

  @Test
  void nothingAtAll() throws Exception {
    AgentOptions options = AgentOptions.parse(null);
    assertThat(options.patterns()).containsExactly("*");
    assertThat(options.output().toString()).matches("quiesce-\\d{8}-\\d{6}");
  }

  @Test
  void aFileHoldsAnything(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("a,b=c");
    Files.writeString(file, "# x\n\noutput=/x,y=z\nenable=a;b\nenable=c\non-failure=exit\n");
    AgentOptions options = AgentOptions.parse("@" + file);
    assertThat(options.output()).isEqualTo(Path.of("/x,y=z"));
    assertThat(options.patterns()).containsExactly("a;b", "c");
    assertThat(AgentOptions.isExitOnFailure("@" + file)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "output",
        "=x",
        "mode=fast",
        "level=15",
        "level=loud",
        "budget=0",
        "budget=9999999999G",
        "colour=red",
        "context=thread_id",
        "context=",
        "@/nowhere/at/all",
        "snapshot-on=exception",
        "result=yes",
        "format=ctf2"
      })
  void wrongOnesAreOneSentence(String text) {
    assertThatThrownBy(() -> AgentOptions.parse(text))
        .isInstanceOf(AgentException.class)
        .message()
        .startsWith("The agent's option")
        .doesNotContain("\n");
  }

  @Test
  void contextAndLowering() throws Exception {
    AgentOptions options = AgentOptions.parse("context=thread-name;process-id;thread-name");
    assertThat(options.context())
        .containsExactly(ContextField.THREAD_NAME, ContextField.PROCESS_ID);
    assertThat(options.lowering()).isFalse();
    assertThat(AgentOptions.parse("level=fine").lowering()).isTrue();
    assertThat(AgentOptions.parse("level=fine").level()).isEqualTo(10);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TraceValues.context("tid"))
        .withMessageContaining("process-id, thread-id, thread-name, java-thread-id, virtual");
  }

  @Test
  void sizesAndLevels() {
    assertThat(TraceValues.bytes("4096")).isEqualTo(4096);
    assertThat(TraceValues.bytes("1k")).isEqualTo(1024);
    assertThat(TraceValues.bytes("2GiB")).isEqualTo(2L << 30);
    assertThat(TraceValues.level("Debug")).isEqualTo(14);
    assertThat(TraceValues.level("info")).isEqualTo(6);
    assertThat(TraceValues.level("0")).isZero();
    assertThatIllegalArgumentException().isThrownBy(() -> TraceValues.bytes("lots"));
  }
}
