package io.quiesce.trace.reader;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The attributes of integers and real numbers: {@code { size = 8; align = 8; }}. */
final class Attributes {
  private final Lexer lexer;
  private final boolean bigEndian;
  private final Map<String, String> values = new HashMap<>();

  Attributes(Lexer lexer, boolean bigEndian) {
    this.lexer = lexer;
    this.bigEndian = bigEndian;
  }

  void ignored() throws TraceFormatException {
    lexer.expect("{");
    while (!lexer.skip("}")) {
      String name = lexer.word();
      lexer.expect("=");
      StringBuilder value = new StringBuilder();
      if (name.equals("align")) {
        value.append(TypeParser.alignment(lexer));
      }
      while (!lexer.is(";") && !lexer.is("}") && lexer.kind() != Lexer.Kind.END) {
        value.append(
            lexer.kind() == Lexer.Kind.NUMBER
                ? Long.toUnsignedString(lexer.number())
                : lexer.value());
        lexer.advance();
      }
      lexer.expect(";");
      values.put(name, value.toString());
    }
  }

  Type.Int integer(int place) throws TraceFormatException {
    ignored();
    int bits = number(place, "size", -1);
    if (bits < 1 || bits > Long.SIZE) {
      throw lexer.damaged(place, "an integer has a size of 1 to 64 bits");
    }
    String encoding = values.getOrDefault("encoding", "none").toLowerCase(Locale.ROOT);
    return new Type.Int(
        bits,
        number(place, "align", bits % Byte.SIZE == 0 ? Byte.SIZE : 1),
        flag(values.getOrDefault("signed", "false")),
        base(place),
        order(place),
        bits == Byte.SIZE && !encoding.equals("none"),
        clock(values.get("map")));
  }

  Type.Real real(int place) throws TraceFormatException {
    ignored();
    int exponent = number(place, "exp_dig", -1);
    int mantissa = number(place, "mant_dig", -1);
    boolean single = exponent == 8 && mantissa == 24;
    if (!single && !(exponent == 11 && mantissa == 53)) {
      throw lexer.damaged(place, "real numbers of 32 or 64 bits are read, and no others");
    }
    return new Type.Real(
        single ? Integer.SIZE : Long.SIZE, number(place, "align", Byte.SIZE), order(place));
  }

  private int number(int place, String name, int otherwise) throws TraceFormatException {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      return Integer.parseInt(value);
    } catch (NumberFormatException _) {
      throw lexer.damaged(place, "the attribute \"" + name + "\" is a small number");
    }
  }

  private static boolean flag(String value) {
    return value.equalsIgnoreCase("true") || value.equals("1");
  }

  private int base(int place) throws TraceFormatException {
    return switch (values.getOrDefault("base", "10")) {
      case "10", "decimal", "dec", "d", "i", "u" -> 10;
      case "16", "hexadecimal", "hex", "x", "X", "p" -> 16;
      case "8", "octal", "oct", "o" -> 8;
      case "2", "binary", "b" -> 2;
      default -> throw lexer.damaged(place, "a base is 2, 8, 10 or 16");
    };
  }

  private boolean order(int place) throws TraceFormatException {
    String order = values.getOrDefault("byte_order", "native");
    Boolean known = order.equals("native") ? Boolean.valueOf(bigEndian) : order(order);
    if (known == null) {
      throw lexer.damaged(place, "a byte order is le, be, network or native");
    }
    return known;
  }

  /** Whether the most significant byte comes first, or null if this is no byte order. */
  static @Nullable Boolean order(String word) {
    return switch (word) {
      case "be", "network" -> true;
      case "le" -> false;
      default -> null;
    };
  }

  private static @Nullable String clock(@Nullable String map) {
    if (map == null) {
      return null;
    }
    String[] path = map.split("\\.", -1);
    return path.length == 3 && path[0].equals("clock") && path[2].equals("value") ? path[1] : null;
  }
}
