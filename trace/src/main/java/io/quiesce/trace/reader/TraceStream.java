package io.quiesce.trace.reader;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The events of one CPU of one trace, in the order in which they are stored, and what is known of
 * them so far. Not thread-safe.
 *
 * <p>The figures are complete when the reader is at its end.
 */
public final class TraceStream implements Closeable {
  /** Event types are laid out when they first occur, and anew when that were so many values. */
  private static final int MAX_NODES = 1 << 20;

  /** An event type's values. */
  private record Form(
      EventClass type,
      Event.Parts parts,
      StructValue context,
      StructValue fields,
      @Nullable NumberValue process,
      @Nullable NumberValue thread) {}

  private final Trace trace;
  private final List<Path> files;
  private final ArrayDeque<Path> waiting;
  private final Damage damage;
  private final boolean lenient;
  private final int ordinal;
  private final Event event;
  private final Map<Long, Form> forms = new HashMap<>();
  private long nodes;

  private @Nullable PacketFile file;
  private @Nullable HeaderParts header;
  private TraceClock clock = TraceClock.PLAIN;
  private boolean inPacket;
  private boolean backwards;
  private @Nullable Packet packet;
  private @Nullable Packet first;
  private long events;
  private long packets;
  private long lostEvents;
  private long lostPackets;
  private long lastTicks;

  /** What stands before the fields of all events. */
  private record HeaderParts(
      EnumMap<Layout.Part, StructValue> parts,
      EventId id,
      StructValue header,
      StructValue context) {}

  TraceStream(Trace trace, List<Path> files, int ordinal, boolean lenient, Damage damage) {
    this.trace = trace;
    this.files = List.copyOf(files);
    this.waiting = new ArrayDeque<>(files);
    this.ordinal = ordinal;
    this.lenient = lenient;
    this.damage = damage;
    this.event = new Event(this);
  }

  /** The trace to which it belongs. */
  public Trace trace() {
    return trace;
  }

  /** Its files, in the order of time. */
  public List<Path> files() {
    return files;
  }

  /** The CPU of its packets, or -1 if they do not say, or before the first one. */
  public int cpu() {
    return packet == null ? -1 : packet.cpu();
  }

  /** Events so far. */
  public long events() {
    return events;
  }

  /** Packets so far. */
  public long packets() {
    return packets;
  }

  /** The latest packet, or null before the first one. */
  public @Nullable Packet packet() {
    return packet;
  }

  /** Events that were lost between the end of the first packet and the end of the latest one. */
  public long lostEvents() {
    return lostEvents;
  }

  /**
   * What the first packet says was lost: within it and before it. In a trace that began with it,
   * these belong to the trace too.
   */
  public long lostBefore() {
    return first == null ? 0 : Math.max(0, first.discarded());
  }

  /** Packets that are missing between the first and the latest one. */
  public long lostPackets() {
    return lostPackets;
  }

  Event event() {
    return event;
  }

  int ordinal() {
    return ordinal;
  }

  TraceClock clock() {
    return clock;
  }

  /** How many bits stand before the packet's first event. */
  long headBits() {
    return file == null ? 0 : file.firstBit;
  }

  /** Goes to the next event; false at the end. */
  boolean advance() throws IOException {
    while (true) {
      try {
        if (inPacket && file != null) {
          if (file.decoder().at < file.endBit) {
            decode(file);
            events++;
            return true;
          }
          inPacket = false;
        }
        if (!nextPacket()) {
          close();
          return false;
        }
      } catch (TraceFormatException e) {
        // Of a packet that was cut off, which was reported, the events before the cut are left.
        boolean cut = inPacket && file != null && file.existing < file.claimed;
        inPacket = false;
        if (!cut) {
          report(e);
        }
      } catch (InternalError e) {
        // A mapped file that has become shorter.
        inPacket = false;
        report(new TraceFormatException(files.getFirst(), 0, "the file cannot be read: " + e));
      }
    }
  }

  private void report(TraceFormatException e) throws IOException {
    if (!lenient) {
      waiting.clear();
      close();
    }
    damage.found(e);
  }

  private boolean nextPacket() throws IOException {
    while (true) {
      if (file == null) {
        Path path = waiting.poll();
        if (path == null) {
          return false;
        }
        file = new PacketFile(path, trace.schema());
        header = null;
        forms.clear();
      }
      if (file.next()) {
        begin(file);
        return true;
      }
      close();
    }
  }

  private void begin(PacketFile open) throws IOException {
    if (header == null) {
      layOut(open);
    }
    Decoder decoder = open.decoder();
    StructValue context = open.context();
    NumberValue beginValue = context.number("timestamp_begin");
    decoder.ticks = lastTicks;
    if (beginValue != null) {
      decoder.tick(beginValue.asLong(), beginValue.type().bits());
      if (beginValue.type().bits() == Long.SIZE
          && Long.compareUnsigned(decoder.ticks, lastTicks) < 0) {
        back(open, "a packet begins before the last event of the packet in front of it");
      }
    }
    Packet now = describe(open, context, decoder.ticks);
    packets++;
    lostEvents += now.lostEvents();
    lostPackets += now.lostPackets();
    first = first == null ? now : first;
    packet = now;
    String wrong = open.wrongContent();
    if (wrong != null) {
      throw open.damaged(wrong);
    }
    if (open.existing < open.claimed) {
      report(
          open.damaged(
              "the last packet claims "
                  + open.claimed
                  + " bytes, of which "
                  + open.existing
                  + " exist"));
      open.endBit = Math.min(open.endBit, open.existing * Byte.SIZE);
    }
    decoder.at = open.firstBit;
    inPacket = true;
  }

  private void layOut(PacketFile open) throws TraceFormatException {
    StreamClass type = open.streamClass();
    EnumMap<Layout.Part, StructValue> parts = open.parts();
    Layout.Wrong wrong = open.decoder();
    StructValue before = Layout.part(Layout.Part.EVENT_HEADER, type.eventHeader(), parts, wrong);
    StructValue context =
        Layout.part(Layout.Part.STREAM_CONTEXT, type.eventContext(), parts, wrong);
    header = new HeaderParts(parts, new EventId(before, type), before, context);
    clock = trace.schema().clock(EventId.clockOf(type));
  }

  private Packet describe(PacketFile open, StructValue context, long begin) {
    NumberValue cpu = context.number("cpu_id");
    NumberValue endValue = context.number("timestamp_end");
    NumberValue sequenceValue = context.number("packet_seq_num");
    NumberValue discardedValue = context.number("events_discarded");
    long sequence = sequenceValue == null ? -1 : sequenceValue.asLong();
    long discarded = discardedValue == null ? -1 : discardedValue.asLong();
    long lost = 0;
    long missing = 0;
    if (packet != null) {
      // A count that goes back has no meaning, unless it is a small counter that began anew.
      boolean counted = discardedValue != null && packet.discarded() >= 0;
      lost = counted ? discarded - packet.discarded() : 0;
      if (lost < 0 && discardedValue != null && discardedValue.type().bits() == Integer.SIZE) {
        lost += 1L << Integer.SIZE;
      }
      boolean gap = packet.sequence() >= 0 && sequence > packet.sequence();
      missing = gap ? sequence - packet.sequence() - 1 : 0;
    }
    return new Packet(
        open.path(),
        open.offset,
        open.claimed,
        cpu == null ? -1 : (int) cpu.asLong(),
        clock.nanosOf(begin),
        clock.nanosOf(endValue == null ? begin : endValue.asLong()),
        sequence,
        discarded,
        Math.max(0, lost),
        missing);
  }

  private void decode(PacketFile open) throws IOException {
    HeaderParts shared = header;
    if (shared == null) {
      throw new IllegalStateException("No packet was read");
    }
    Decoder decoder = open.decoder();
    long start = decoder.at;
    decoder.begin(open.offset, start, open.endBit);
    shared.header.decode(decoder);
    Form form = form(open, shared, shared.id.get());
    shared.context.decode(decoder);
    form.context.decode(decoder);
    form.fields.decode(decoder);
    if (decoder.at == start) {
      throw decoder.damaged(start, "an event takes no space");
    }
    event.set(form.type, decoder.ticks, start, decoder, form.parts, form.process, form.thread);
    if (Long.compareUnsigned(decoder.ticks, lastTicks) < 0) {
      back(open, "the time goes back");
    }
    lastTicks = decoder.ticks;
  }

  private void back(PacketFile open, String what) throws IOException {
    if (!backwards) {
      backwards = true;
      Decoder decoder = open.decoder();
      report(decoder.damaged(decoder.at, what));
    }
  }

  private Form form(PacketFile open, HeaderParts shared, long id) throws TraceFormatException {
    Decoder decoder = open.decoder();
    Form form = forms.get(id);
    if (form != null) {
      return form;
    }
    EventClass type = open.streamClass().event(id);
    if (type == null) {
      throw decoder.damaged(decoder.at, "an event has the unknown id " + Long.toUnsignedString(id));
    }
    nodes += 64 + type.context().nodes() + type.fields().nodes();
    if (nodes > MAX_NODES) {
      forms.clear();
      nodes = 0;
    }
    EnumMap<Layout.Part, StructValue> parts = new EnumMap<>(shared.parts);
    StructValue context = Layout.part(Layout.Part.EVENT_CONTEXT, type.context(), parts, decoder);
    StructValue fields = Layout.part(Layout.Part.FIELDS, type.fields(), parts, decoder);
    form =
        new Form(
            type,
            new Event.Parts(open.context(), shared.context, context, fields),
            context,
            fields,
            number(shared.context, context, "vpid", "pid"),
            number(shared.context, context, "vtid", "tid"));
    forms.put(id, form);
    return form;
  }

  private static @Nullable NumberValue number(
      StructValue outer, StructValue inner, String name, String otherwise) {
    List<NumberValue> found = new ArrayList<>();
    for (String each : List.of(name, otherwise)) {
      for (StructValue context : List.of(outer, inner)) {
        NumberValue number = context.number(each);
        if (number != null) {
          found.add(number);
        }
      }
    }
    return found.isEmpty() ? null : found.getFirst();
  }

  /** Closes the file; {@link TraceReader} does it. */
  @Override
  public void close() throws IOException {
    inPacket = false;
    if (file != null) {
      PacketFile open = file;
      file = null;
      open.close();
    }
  }
}
