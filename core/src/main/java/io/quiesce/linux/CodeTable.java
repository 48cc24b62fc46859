package io.quiesce.linux;

/**
 * One sequence as a table of bytes with its assembly beside it; {@link Assembler} reads it.
 *
 * <p>Each line is {@code bytes | assembly}, or a label {@code name:}. Beside plain hexadecimal
 * bytes, a line may have these tokens:
 *
 * <pre>
 *   fs+N     4 bytes: offset from the thread pointer to byte N of the rseq area
 *   fs+index 4 bytes: the same, to the field that chooses the row
 *   cs       4 bytes: distance to this sequence's descriptor; last in its line
 *   sig      4 bytes: the abort signature
 *   &gt;label   1 byte:  distance to a label; last in its line
 *   &gt;&gt;label  4 bytes: the same, far
 * </pre>
 *
 * <p>The labels {@code start}, {@code commit} and {@code abort} bound the restartable part: a
 * thread that is interrupted from {@code start} on and before {@code commit} continues at {@code
 * abort}. The label {@code begin} is the first byte.
 *
 * @param name what {@link NativeCode#downcall} finds it by
 * @param purpose one sentence, with the C signature
 * @param text the table
 */
record CodeTable(String name, String purpose, String text) {
  /** Whether it reads the rseq area, so that it is useless where threads are not registered. */
  boolean needsRseq() {
    return text.contains(" fs+");
  }
}
