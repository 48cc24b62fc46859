package io.quiesce.trace.ctf;

import io.quiesce.trace.TraceFormat;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code metadata} of a trace: what the trace is, then one event type after the other, in
 * the language of the trace's format.
 *
 * <p>It only grows, each time by one write, so event types may come at any time before their first
 * event is in a stream file. What is not entirely in the file is not in it at all.
 *
 * <p>Thread-safe.
 */
public final class Metadata implements Closeable {
  private static final String NAME = "metadata";

  /** The uuid is in the first lines. */
  private static final int HEAD_BYTES = 4096;

  /** The first uuid is the trace's; the clock's comes later. */
  private static final Pattern UUID_LINE = Pattern.compile("\\n\\tuuid = \"([0-9a-f-]{36})\";");

  private static final Pattern EVENT_ID =
      Pattern.compile("\\nevent \\{\\n\\tname = .*;\\n\\tid = (\\d{1,9});\\n");

  private static final Pattern UUID_LIST =
      Pattern.compile("\"uuid\":\\[(\\d{1,3}(?:,\\d{1,3}){15})]");

  private static final Pattern FRAGMENT_ID =
      Pattern.compile(Pattern.quote(Fragments.EVENT) + "(\\d{1,9}),");

  private final AppendFile file;
  private final TraceFormat format;
  private final Map<Integer, EventType> types = new HashMap<>();

  private Metadata(AppendFile file, TraceFormat format) {
    this.file = file;
    this.format = format;
  }

  /**
   * Makes the folder if there is none, and in it the file.
   *
   * @throws IOException with the reason in one sentence if that fails, or if a trace is there
   */
  public static Metadata create(Path folder, TraceDescription trace) throws IOException {
    return create(folder, trace, FileChannel::open);
  }

  static Metadata create(Path folder, TraceDescription trace, AppendFile.Opener opener)
      throws IOException {
    Path path = folder.resolve(NAME);
    try {
      Files.createDirectories(folder);
      AppendFile file = AppendFile.create(path, opener);
      Metadata metadata = new Metadata(file, trace.format());
      try {
        file.append(bytes(metadata.preamble(trace)));
      } catch (IOException e) {
        file.close();
        Files.deleteIfExists(path); // so that the next try finds nothing in its way
        throw e;
      }
      return metadata;
    } catch (IOException e) {
      throw new IOException("The trace in " + folder + " cannot be begun: " + e, e);
    }
  }

  private String preamble(TraceDescription trace) {
    return format == TraceFormat.CTF_2 ? Fragments.preamble(trace) : Tsdl.preamble(trace);
  }

  private String text(EventType type) {
    return format == TraceFormat.CTF_2 ? Fragments.event(type) : Tsdl.event(type);
  }

  /** Which format it is, as this class writes both. */
  private static boolean isFragments(String text) {
    return !text.isEmpty() && text.charAt(0) == Fragments.BEGIN;
  }

  /**
   * Cuts the metadata that a killed program left back to whole event types.
   *
   * @return the trace's uuid, which its packets have too
   * @throws IOException with the reason in one sentence if that fails, or if not even the part
   *     before the event types is there
   */
  public static UUID recover(Path folder) throws IOException {
    Path path = folder.resolve(NAME);
    try (AppendFile file = AppendFile.open(path)) {
      String text = Files.readString(path, StandardCharsets.ISO_8859_1);
      boolean fragments = isFragments(text);
      String end = fragments ? Fragments.END : Tsdl.END;
      int last = text.indexOf(fragments ? Fragments.LAST_OF_PREAMBLE : "\nstream {\n");
      UUID uuid = uuid(text);
      if (last < 0 || text.indexOf(end, last) < 0 || uuid == null) {
        throw new IOException("it was cut off before the first event type");
      }
      file.truncate(text.lastIndexOf(end) + (long) end.length());
      return uuid;
    } catch (IOException e) {
      throw new IOException("The metadata " + path + " cannot be recovered: " + e, e);
    }
  }

  /** Whether a folder has the metadata of this trace. */
  public static boolean isOf(Path folder, UUID trace) {
    try (InputStream in = Files.newInputStream(folder.resolve(NAME))) {
      String head = new String(in.readNBytes(HEAD_BYTES), StandardCharsets.ISO_8859_1);
      UUID found = uuid(head);
      return found != null && found.equals(trace);
    } catch (IOException _) {
      return false;
    }
  }

  /** The trace's uuid, which comes first, or null. */
  private static @Nullable UUID uuid(String text) {
    boolean fragments = isFragments(text);
    Matcher found = (fragments ? UUID_LIST : UUID_LINE).matcher(text);
    if (!found.find()) {
      return null;
    }
    return fragments ? ofBytes(found.group(1)) : UUID.fromString(found.group(1));
  }

  private static UUID ofBytes(String bytes) {
    long[] halves = new long[2];
    String[] numbers = bytes.split(",", -1);
    for (int i = 0; i < numbers.length; i++) {
      halves[i / Long.BYTES] = halves[i / Long.BYTES] << Byte.SIZE | Integer.parseInt(numbers[i]);
    }
    return new UUID(halves[0], halves[1]);
  }

  /**
   * The ids of the event types in a folder's metadata, as this class writes it.
   *
   * @throws IOException if it cannot be read
   */
  public static Set<Integer> ids(Path folder) throws IOException {
    String text = Files.readString(folder.resolve(NAME), StandardCharsets.ISO_8859_1);
    Matcher id = (isFragments(text) ? FRAGMENT_ID : EVENT_ID).matcher(text);
    Set<Integer> ids = new HashSet<>();
    while (id.find()) {
      ids.add(Integer.valueOf(id.group(1)));
    }
    return ids;
  }

  /**
   * Adds an event type, unless it is there.
   *
   * @return whether it was new
   * @throws IllegalArgumentException if another type has its id
   * @throws IOException with the reason in one sentence if it is not in the file; its events must
   *     not be written then, and adding it may be tried again
   */
  public boolean add(EventType type) throws IOException {
    return addAll(List.of(type)) == 1;
  }

  /**
   * Adds event types, all in one write; see {@link #add}.
   *
   * @return how many were new
   * @throws IllegalArgumentException if another type has the id of one; none is added then
   * @throws IOException if none was added
   */
  public synchronized int addAll(Collection<EventType> all) throws IOException {
    Map<Integer, EventType> fresh = new HashMap<>();
    List<String> texts = new ArrayList<>();
    for (EventType type : all) {
      EventType other = types.get(type.id());
      if (other == null) {
        other = fresh.putIfAbsent(type.id(), type);
      }
      if (other == null) {
        texts.add(text(type));
      } else if (!other.equals(type)) {
        throw new IllegalArgumentException(
            type.fullName() + " has the id " + type.id() + " of " + other.fullName());
      }
    }
    if (!texts.isEmpty()) {
      try {
        file.append(bytes(String.join("", texts)));
      } catch (IOException e) {
        throw new IOException("Event types could not be added to " + file.path() + ": " + e, e);
      }
      types.putAll(fresh);
    }
    return fresh.size();
  }

  /** How many event types there are. */
  public synchronized int size() {
    return types.size();
  }

  @Override
  public synchronized void close() throws IOException {
    file.close();
  }

  private static ByteBuffer bytes(String text) {
    return StandardCharsets.UTF_8.encode(text);
  }
}
