package io.quiesce.trace.reader;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of the trace stream description language: trace, env, clock, stream, event; and what
 * they say as a whole.
 *
 * <p>The byte order of the trace block holds for types that are declared before it, so that block
 * is sought first.
 */
final class SchemaParser {
  /** The most values that one event of each kind consists of, all kinds together. */
  static final int MAX_NODES = 1 << 24;

  /** Header, context and fields: one block's settings of type. */
  private static final class Block {
    final Map<String, Object> values = new LinkedHashMap<>();
    final Map<String, Type> types = new LinkedHashMap<>();
    final int place;

    Block(int place) {
      this.place = place;
    }
  }

  private final MetadataText text;
  private final Lexer lexer;
  private final TypeParser types;
  private final Scope root = new Scope(null);
  private final Map<String, Object> environment = new LinkedHashMap<>();
  private final Map<String, TraceClock> clocks = new LinkedHashMap<>();
  private final Map<Long, Block> streams = new LinkedHashMap<>();
  private final Map<Long, Map<Long, EventClass>> events = new LinkedHashMap<>();
  private Type.Struct packetHeader = TypeParser.nothing();
  private @Nullable UUID uuid;
  private long nodes;

  private SchemaParser(MetadataText text) throws TraceFormatException {
    this.text = text;
    this.lexer = new Lexer(text);
    boolean bigEndian = byteOrder();
    lexer.back(0);
    this.types = new TypeParser(lexer, bigEndian);
  }

  /**
   * Reads metadata.
   *
   * @param damage if it returns, the blocks before the damage count
   * @throws TraceFormatException if it throws, or if not even the trace block is sound
   */
  static TraceSchema parse(MetadataText text, Damage damage) throws TraceFormatException {
    if (text.isFragments()) {
      return FragmentParser.parse(text, damage);
    }
    SchemaParser parser = new SchemaParser(text);
    try {
      while (parser.lexer.kind() != Lexer.Kind.END) {
        parser.block();
      }
    } catch (TraceFormatException e) {
      damage.found(e);
    }
    return parser.schema();
  }

  private boolean byteOrder() throws TraceFormatException {
    int depth = 0;
    boolean inTrace = false;
    while (lexer.kind() != Lexer.Kind.END) {
      if (lexer.is("{")) {
        depth++;
      } else if (lexer.is("}")) {
        depth--;
        inTrace &= depth > 0;
      } else if (depth == 0 && lexer.is("trace")) {
        inTrace = true;
      } else if (inTrace && depth == 1 && lexer.is("byte_order")) {
        lexer.advance();
        lexer.expect("=");
        Boolean order = Attributes.order(lexer.value());
        if (order == null) {
          throw lexer.unexpected("le, be or network");
        }
        return order;
      }
      lexer.advance();
    }
    if (text.bytes().length > 0 && text.bytes()[0] == '{') {
      throw text.damaged(0, "metadata of format version 2 begins with a record separator");
    }
    throw text.damaged(0, "no trace block with a byte order is in the metadata");
  }

  private void block() throws TraceFormatException {
    int place = lexer.place();
    if (lexer.skip(";")) {
      return;
    }
    if (types.isDeclaration()) {
      types.declaration(root);
    } else if (lexer.skip("trace")) {
      trace(settings(place));
    } else if (lexer.skip("env")) {
      environment.putAll(settings(place).values);
    } else if (lexer.skip("clock")) {
      clock(settings(place));
    } else if (lexer.skip("stream")) {
      Block block = settings(place);
      if (streams.putIfAbsent(number(block, "id", 0), block) != null) {
        throw text.damaged(place, "a stream of this id is there already");
      }
    } else if (lexer.skip("event")) {
      event(settings(place));
    } else if (lexer.skip("callsite")) {
      settings(place);
    } else {
      throw lexer.unexpected("a block such as event");
    }
  }

  private Block settings(int place) throws TraceFormatException {
    Block block = new Block(place);
    Scope scope = new Scope(root);
    lexer.expect("{");
    while (!lexer.skip("}")) {
      if (types.isDeclaration()) {
        types.declaration(scope);
        continue;
      }
      String name = types.path();
      if (lexer.skip(":=")) {
        block.types.put(name, types.type(scope));
      } else {
        lexer.expect("=");
        block.values.put(name, value());
      }
      lexer.expect(";");
    }
    lexer.skip(";");
    return block;
  }

  private Object value() throws TraceFormatException {
    boolean negative = lexer.skip("-");
    Object value =
        switch (lexer.kind()) {
          case NUMBER -> negative ? -lexer.number() : lexer.number();
          case LITERAL -> lexer.value();
          case WORD -> lexer.value();
          default -> throw lexer.unexpected("a value");
        };
    lexer.advance();
    while (lexer.is(".")) {
      lexer.advance();
      value = value + "." + lexer.word();
    }
    return value;
  }

  private void trace(Block block) throws TraceFormatException {
    Object id = block.values.get("uuid");
    if (id != null) {
      try {
        uuid = UUID.fromString(id.toString());
      } catch (IllegalArgumentException _) {
        throw text.damaged(block.place, "the trace's uuid is none");
      }
    }
    packetHeader = struct(block, "packet.header");
  }

  private void clock(Block block) throws TraceFormatException {
    long frequency = number(block, "freq", 1_000_000_000L);
    if (frequency <= 0) {
      throw text.damaged(block.place, "a clock's frequency is above 0");
    }
    String name = word(block, "name", "");
    TraceClock clock =
        new TraceClock(
            name,
            block.values.containsKey("uuid") ? word(block, "uuid", "") : null,
            word(block, "description", ""),
            frequency,
            number(block, "offset_s", 0),
            number(block, "offset", 0));
    if (clocks.putIfAbsent(name, clock) != null) {
      throw text.damaged(block.place, "a clock of this name is there already");
    }
  }

  private void event(Block block) throws TraceFormatException {
    long stream = number(block, "stream_id", streams.size() == 1 ? firstStream() : 0);
    long id = number(block, "id", 0);
    EventClass event =
        new EventClass(
            id,
            stream,
            word(block, "name", "unnamed"),
            (int) number(block, "loglevel", EventClass.NO_LEVEL),
            struct(block, "context"),
            struct(block, "fields"));
    nodes += event.context().nodes() + (long) event.fields().nodes();
    if (nodes > MAX_NODES) {
      throw text.damaged(block.place, "so many fields in all events together are not read");
    }
    Map<Long, EventClass> ids = events.computeIfAbsent(stream, _ -> new LinkedHashMap<>());
    if (ids.putIfAbsent(id, event) != null) {
      throw text.damaged(
          block.place, "another event than \"" + event.name() + "\" has the id " + id);
    }
  }

  private long firstStream() {
    return streams.keySet().iterator().next();
  }

  private Type.Struct struct(Block block, String name) throws TraceFormatException {
    Type type = block.types.getOrDefault(name, TypeParser.nothing());
    if (type instanceof Type.Struct struct) {
      return struct;
    }
    throw text.damaged(block.place, name + " is a structure");
  }

  private long number(Block block, String name, long otherwise) throws TraceFormatException {
    Object value = block.values.getOrDefault(name, otherwise);
    if (value instanceof Long number) {
      return number;
    }
    throw text.damaged(block.place, name + " is a number");
  }

  private static String word(Block block, String name, String otherwise) {
    return block.values.getOrDefault(name, otherwise).toString();
  }

  private TraceSchema schema() throws TraceFormatException {
    Map<Long, StreamClass> classes = new LinkedHashMap<>();
    for (Map.Entry<Long, Block> stream : streams.entrySet()) {
      Block block = stream.getValue();
      classes.put(
          stream.getKey(),
          new StreamClass(
              stream.getKey(),
              struct(block, "packet.context"),
              struct(block, "event.header"),
              struct(block, "event.context"),
              events.getOrDefault(stream.getKey(), Map.of())));
    }
    if (classes.isEmpty()) {
      Type.Struct none = TypeParser.nothing();
      classes.put(0L, new StreamClass(0, none, none, none, events.getOrDefault(0L, Map.of())));
    }
    TraceSchema schema = new TraceSchema(uuid, environment, clocks, packetHeader, classes);
    List<StreamClass> all = new ArrayList<>(schema.streams().values());
    for (StreamClass stream : all) {
      Block block = streams.get(stream.id());
      int place = block == null ? 0 : block.place;
      Layout.check(schema, stream, what -> text.damaged(place, what));
    }
    return schema;
  }
}
