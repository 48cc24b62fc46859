package io.quiesce.trace.reader;

import java.nio.file.Path;

/**
 * One of the traces that are read together. Immutable.
 *
 * @param folder where its metadata is
 * @param schema what its metadata says
 */
public record Trace(Path folder, TraceSchema schema) {}
