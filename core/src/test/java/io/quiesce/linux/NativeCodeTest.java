package io.quiesce.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeCodeTest {
  private static final Pattern LINE = Pattern.compile("\\s*([0-9a-f]+):\t([0-9a-f ]+?)\\s*\t(.*)");

  @TempDir Path folder;

  /** What objdump says of some bytes: address, hex, text with single spaces. */
  private List<String[]> disassemble(byte[] bytes, long address) throws Exception {
    Path file = folder.resolve("code");
    Files.write(file, bytes);
    Process process;
    try {
      process =
          new ProcessBuilder(
                  "objdump",
                  "-D",
                  "-b",
                  "binary",
                  "-m",
                  "i386:x86-64",
                  "--insn-width=16",
                  "--adjust-vma=0x" + Long.toHexString(address),
                  file.toString())
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      System.out.println("skipped the disassembly: install binutils for objdump");
      assumeTrue(false, "objdump is missing");
      throw e;
    }
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    List<String[]> lines = new ArrayList<>();
    for (String line : out.lines().toList()) {
      Matcher matcher = LINE.matcher(line);
      if (matcher.matches()) {
        lines.add(
            new String[] {
              matcher.group(1), matcher.group(2), matcher.group(3).strip().replaceAll("\\s+", " ")
            });
      }
    }
    return lines;
  }

  /** The commented assembly with this machine's addresses in place of the names. */
  private static String expected(
      CodeSequence s, CodeSequence.Line line, long rseqOffset, int index) {
    String text = line.assembly().replaceAll("\\s+", " ");
    text = text.replace("CPU_ID", "0x" + Long.toHexString(rseqOffset + 4));
    text = text.replace("INDEX", "0x" + Long.toHexString(rseqOffset + index));
    text = text.replace("RSEQ_CS", "0x" + Long.toHexString(rseqOffset + 8));
    text = text.replace("NODE_ID", "0x" + Long.toHexString(rseqOffset + 20));
    text = text.replace("MM_CID", "0x" + Long.toHexString(rseqOffset + 24));
    long next = s.address() + line.offset() + line.size();
    text = text.replace("SIGNATURE", "0x53053053");
    if (text.contains("DESCRIPTOR")) {
      long distance = s.descriptor() - next;
      text =
          text.replace(
              "DESCRIPTOR", (distance < 0 ? "-0x" : "0x") + Long.toHexString(Math.abs(distance)));
      text += " # 0x" + Long.toHexString(s.descriptor());
    }
    if (line.assembly().startsWith("ud1")) {
      text += " # 0x" + Long.toHexString(next + 0x53053053L);
    }
    if (line.assembly().startsWith("j")) {
      String label = text.substring(text.indexOf(' ') + 1);
      text = text.replace(label, "0x" + Long.toHexString(s.address() + s.label(label)));
    }
    return text;
  }

  private void compare(List<CodeSequence> sequences, long rseqOffset, int index) throws Exception {
    for (CodeSequence s : sequences) {
      List<String[]> seen = disassemble(s.bytes(), s.address());
      assertThat(seen).as(s.name()).hasSameSizeAs(s.lines());
      for (int i = 0; i < seen.size(); i++) {
        CodeSequence.Line line = s.lines().get(i);
        assertThat(Long.parseUnsignedLong(seen.get(i)[0], 16))
            .isEqualTo(s.address() + line.offset());
        assertThat(seen.get(i)[1]).as(s.name()).isEqualTo(line.hex());
        assertThat(seen.get(i)[2]).as(s.name()).isEqualTo(expected(s, line, rseqOffset, index));
      }
    }
  }

  @Test
  void everySequenceIsTheAssemblyBesideIt() throws Exception {
    for (long offset : new long[] {0x920, -0x40}) {
      int index = offset < 0 ? RseqAbi.CPU_ID : RseqAbi.CONCURRENCY_ID;
      List<CodeSequence> sequences =
          Assembler.assemble(Sequences.ALL, 0x7f1234567000L, 4096, offset, index).sequences();
      assertThat(sequences).hasSameSizeAs(Sequences.ALL);
      compare(sequences, offset, index);
    }
  }

  @Test
  void whatLiesInMemoryIsWhatWasDisassembled() throws Exception {
    Needs.facility("rseq");
    assertThat(NativeCode.sequences()).hasSameSizeAs(Sequences.ALL);
    compare(NativeCode.sequences(), Rseq.offset(), NativeCode.ABI.indexField());
    for (CodeSequence s : NativeCode.sequences()) {
      OffHeap.register(s.address(), s.size());
      byte[] live = new byte[s.size()];
      OffHeap.copyTo(s.address(), live, 0, live.length);
      OffHeap.unregister(s.address());
      assertThat(live).isEqualTo(s.bytes());
    }
  }

  @Test
  void thePageIsNeverWritable() throws Exception {
    Needs.facility("code");
    long address = NativeCode.sequences().get(0).address();
    assertThat(Files.readAllLines(Path.of("/proc/self/maps")))
        .filteredOn(line -> contains(line, address))
        .singleElement()
        .asString()
        .contains(" r-xp ");
  }

  /** Whether a line of the kernel's list covers an address; neighbours are merged in that list. */
  private static boolean contains(String line, long address) {
    int dash = line.indexOf('-');
    long start = Long.parseUnsignedLong(line.substring(0, dash), 16);
    long end = Long.parseUnsignedLong(line.substring(dash + 1, line.indexOf(' ')), 16);
    return Long.compareUnsigned(start, address) <= 0 && Long.compareUnsigned(address, end) < 0;
  }

  @Test
  void unknownSequences() {
    Needs.facility("code");
    assertThatThrownBy(() -> NativeCode.downcall("jump", FunctionDescriptor.ofVoid()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("jump")
        .hasMessageContaining("tsc@");
  }

  @Test
  void theSecurityPageListsEverySequence() throws Exception {
    Path doc =
        Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("../docs/security.md");
    String text = Files.readString(doc);
    for (CodeTable table : Sequences.ALL) {
      assertThat(text).contains("### " + table.name() + "\n");
      assertThat(text).as(table.name()).contains("```\n" + table.text() + "```\n");
    }
    assertThat(text.lines().filter(l -> l.startsWith("### "))).hasSameSizeAs(Sequences.ALL);
  }
}
