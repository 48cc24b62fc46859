package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class AssemblerTest {
  private static final long PAGE = 0x7f00_0000_0000L;

  private static Assembler.Image assemble(String text) {
    return Assembler.assemble(
        List.of(new CodeTable("t", "test", text)), PAGE, 4096, 0x920, RseqAbi.CPU_ID);
  }

  @Test
  void describesTheRestartablePartForTheKernel() {
    Assembler.Image image = Assembler.assemble(Sequences.ALL, PAGE, 4096, -64, RseqAbi.CPU_ID);
    CodeSequence add =
        image.sequences().stream().filter(s -> s.name().equals("add")).findFirst().orElseThrow();
    assertThat(add.descriptor() % 32).isZero();
    ByteBuffer page = ByteBuffer.wrap(image.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    int at = (int) (add.descriptor() - PAGE);
    assertThat(page.getLong(at)).as("version and flags").isZero();
    long start = page.getLong(at + 8);
    long length = page.getLong(at + 16);
    long abort = page.getLong(at + 24);
    assertThat(start).isEqualTo(add.address() + add.label("start"));
    assertThat(start + length).isEqualTo(add.address() + add.label("commit"));
    assertThat(abort).isEqualTo(add.address() + add.label("abort"));
    assertThat(page.getInt((int) (abort - PAGE) - 4)).isEqualTo(0x53053053);
    // A negative offset from the thread pointer is sign-extended by the CPU.
    assertThat(add.lines().get(2).hex()).endsWith("c4 ff ff ff 00");
  }

  @Test
  void resolvesNearAndFarLabels() {
    CodeSequence s =
        assemble("eb >end | jmp end\ne9 >>begin | jmp begin\nend:\nc3 | ret\n").sequences().get(0);
    assertThat(s.lines().get(0).hex()).isEqualTo("eb 05");
    assertThat(s.lines().get(1).hex()).isEqualTo("e9 f9 ff ff ff");
    assertThat(s.size()).isEqualTo(8);
  }

  @Test
  void refusesMistakes() {
    assertThatThrownBy(() -> assemble("eb >nowhere | jmp nowhere")).hasMessageContaining("nowhere");
    assertThatThrownBy(() -> assemble("c3 ret")).hasMessageContaining("no '|'");
    assertThatThrownBy(() -> assemble("zz | ret")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> assemble("start:\nc3 | ret\ncommit:\nc3 | ret\nabort:\nc3 | ret"))
        .hasMessageContaining("signature");
    assertThatThrownBy(() -> assemble("c3 | ret\nabort:\nc3 | ret"))
        .hasMessageContaining("start, commit and abort");
    assertThatThrownBy(
            () -> assemble("eb >e | jmp e\n" + "90 | nop\n".repeat(200) + "e:\nc3 | ret"))
        .hasMessageContaining("too far");
    assertThatThrownBy(() -> assemble("90 | nop\n".repeat(5000)))
        .hasMessageContaining("the page is full");
    assertThatThrownBy(() -> Assembler.assemble(List.of(), PAGE, 4096, 1L << 40, RseqAbi.CPU_ID))
        .hasMessageContaining("2 GiB");
  }

  @Test
  void activeSizeOfTheArea() {
    assertThat(RseqAbi.activeSize(0, 28)).isZero();
    assertThat(RseqAbi.activeSize(32, 0)).as("old kernel").isEqualTo(20);
    assertThat(RseqAbi.activeSize(20, 28)).isEqualTo(28);
    assertThat(RseqAbi.activeSize(32, 28)).isEqualTo(28);
    assertThat(RseqAbi.activeSize(20, 33)).isEqualTo(32);
    assertThat(RseqAbi.activeSize(28, 28)).isEqualTo(28);
    assertThat(RseqAbi.activeSize(64, 36)).isEqualTo(36);
    assertThat(RseqAbi.activeSize(36, 64)).isEqualTo(36);
  }
}
