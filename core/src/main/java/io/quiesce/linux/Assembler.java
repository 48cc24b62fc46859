package io.quiesce.linux;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns {@link CodeTable}s into the image of one page whose address is known.
 *
 * <pre>
 *   page   +------------------------------+
 *          | descriptor of 1st sequence   |  32 bytes each, 32-byte aligned: the kernel reads them
 *          | descriptor of 2nd ...        |
 *          +------------------------------+
 *          | code of 1st sequence         |  32-byte aligned, gaps filled with int3
 *          | code of 2nd ...              |
 *          +------------------------------+
 * </pre>
 */
final class Assembler {
  /** What the kernel expects in the 4 bytes before the abort address, as glibc registers it. */
  static final int SIGNATURE = 0x53053053;

  static final int DESCRIPTOR_BYTES = 32;
  private static final int CODE_ALIGNMENT = 32;
  private static final byte INT3 = (byte) 0xcc;

  private final long page;
  private final long rseqOffset;
  private final int indexField;
  private final ByteBuffer image;

  private Assembler(long page, int capacity, long rseqOffset, int indexField) {
    this.page = page;
    this.rseqOffset = rseqOffset;
    this.indexField = indexField;
    byte[] bytes = new byte[capacity];
    Arrays.fill(bytes, INT3);
    this.image = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A page's bytes and what lies where in it. */
  static final class Image {
    private final byte[] bytes;
    private final List<CodeSequence> sequences;

    private Image(byte[] bytes, List<CodeSequence> sequences) {
      this.bytes = bytes;
      this.sequences = List.copyOf(sequences);
    }

    byte[] bytes() {
      return bytes;
    }

    List<CodeSequence> sequences() {
      return sequences;
    }
  }

  /**
   * The image for a page.
   *
   * @param indexField which byte of the rseq area {@code fs+index} means
   * @throws IllegalArgumentException for a table with a mistake, or tables that do not fit
   */
  static Image assemble(
      List<CodeTable> tables, long page, int capacity, long rseqOffset, int indexField) {
    if (rseqOffset != (int) rseqOffset || rseqOffset + 64 != (int) (rseqOffset + 64)) {
      throw new IllegalArgumentException("the rseq area is not within 2 GiB of the thread pointer");
    }
    Assembler assembler = new Assembler(page, capacity, rseqOffset, indexField);
    List<CodeSequence> sequences = new ArrayList<>();
    int code = tables.size() * DESCRIPTOR_BYTES;
    for (int i = 0; i < tables.size(); i++) {
      CodeSequence sequence = assembler.place(tables.get(i), code, i * DESCRIPTOR_BYTES);
      sequences.add(sequence);
      code = Math.ceilDiv(code + sequence.size(), CODE_ALIGNMENT) * CODE_ALIGNMENT;
    }
    return new Image(assembler.image.array(), sequences);
  }

  private CodeSequence place(CodeTable table, int code, int descriptor) {
    Map<String, Integer> labels = new HashMap<>();
    List<CodeSequence.Line> lines = new ArrayList<>();
    try {
      // Twice: the first round only finds out where the labels are.
      encode(table, code, descriptor, labels, null);
      encode(table, code, descriptor, labels, lines);
    } catch (IllegalArgumentException | BufferOverflowException e) {
      throw new IllegalArgumentException(
          "sequence '"
              + table.name()
              + "': "
              + (e instanceof BufferOverflowException ? "the page is full" : e.getMessage()),
          e);
    }
    boolean restartable = labels.containsKey("abort");
    if (restartable) {
      describe(table, code, descriptor, labels);
    }
    int size = lines.stream().mapToInt(CodeSequence.Line::size).sum();
    byte[] bytes = Arrays.copyOfRange(image.array(), code, code + size);
    return new CodeSequence(
        table, page + code, restartable ? page + descriptor : 0, bytes, labels, lines);
  }

  private void describe(CodeTable table, int code, int descriptor, Map<String, Integer> labels) {
    Integer start = labels.get("start");
    Integer commit = labels.get("commit");
    Integer abort = labels.get("abort");
    if (start == null || commit == null || abort == null || start >= commit) {
      throw new IllegalArgumentException(
          "sequence '" + table.name() + "': start, commit and abort must be there, in order");
    }
    if (abort < commit || image.getInt(code + abort - Integer.BYTES) != SIGNATURE) {
      throw new IllegalArgumentException(
          "sequence '" + table.name() + "': abort must lie outside and right after the signature");
    }
    image.putInt(descriptor, 0); // version
    image.putInt(descriptor + 4, 0); // flags
    image.putLong(descriptor + 8, page + code + start);
    image.putLong(descriptor + 16, commit - start);
    image.putLong(descriptor + 24, page + code + abort);
  }

  private void encode(
      CodeTable table,
      int code,
      int descriptor,
      Map<String, Integer> labels,
      @Nullable List<CodeSequence.Line> lines) {
    boolean last = lines != null;
    labels.put("begin", 0);
    image.position(code);
    for (String raw : table.text().lines().toList()) {
      String line = raw.strip();
      if (line.endsWith(":")) {
        labels.put(line.substring(0, line.length() - 1), image.position() - code);
        continue;
      }
      int bar = line.indexOf('|');
      if (bar < 0) {
        throw new IllegalArgumentException("no '|' in the line '" + line + "'");
      }
      int before = image.position();
      for (String token : line.substring(0, bar).strip().split("\\s+", -1)) {
        put(token, code, descriptor, last ? labels : null);
      }
      if (lines != null) {
        byte[] bytes = Arrays.copyOfRange(image.array(), before, image.position());
        lines.add(
            new CodeSequence.Line(
                before - code,
                HexFormat.ofDelimiter(" ").formatHex(bytes),
                bytes.length,
                line.substring(bar + 1).strip()));
      }
    }
  }

  private void put(String token, int code, int descriptor, @Nullable Map<String, Integer> labels) {
    if (token.equals("fs+index")) {
      image.putInt((int) (rseqOffset + indexField));
    } else if (token.startsWith("fs+")) {
      image.putInt((int) (rseqOffset + Integer.parseInt(token.substring(3), 16)));
    } else if (token.equals("cs")) {
      image.putInt(descriptor - (image.position() + Integer.BYTES));
    } else if (token.equals("sig")) {
      image.putInt(SIGNATURE);
    } else if (token.startsWith(">>")) {
      image.putInt(distance(token.substring(2), code, Integer.BYTES, labels));
    } else if (token.startsWith(">")) {
      int distance = distance(token.substring(1), code, Byte.BYTES, labels);
      if (distance != (byte) distance) {
        throw new IllegalArgumentException("label " + token + " is too far; write >>");
      }
      image.put((byte) distance);
    } else {
      image.put((byte) HexFormat.fromHexDigits(token));
    }
  }

  private int distance(String label, int code, int width, @Nullable Map<String, Integer> labels) {
    if (labels == null) {
      return 0;
    }
    Integer target = labels.get(label);
    if (target == null) {
      throw new IllegalArgumentException("no label '" + label + "'");
    }
    return code + target - (image.position() + width);
  }
}
