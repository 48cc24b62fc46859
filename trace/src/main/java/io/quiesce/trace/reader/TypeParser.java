package io.quiesce.trace.reader;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The types of the trace stream description language, by recursive descent.
 *
 * <pre>
 *   type       = "integer" {..} | "floating_point" {..} | "string" [{..}] | words
 *              | "struct" [name] [{ declaration.. }] ["align" (n)]
 *              | "variant" [name] ["&lt;" path "&gt;"] [{ declaration.. }]
 *              | "enum" [name] [":" type] [{ label [= low [... high]], .. }]
 *   declaration = type declarator, .. ";" | "typealias" type ":=" words ";" | "typedef" type name ";"
 *   declarator = name ["[" number | path "]"]..
 * </pre>
 *
 * <p>Structures, variants and enumerations have names of their own: they are kept in the scope with
 * the keyword before the name, which no alias can have.
 */
final class TypeParser {
  private static final Type.Struct NOTHING = new Type.Struct(List.of(), 1);
  static final long MAX_ALIGN = 1 << 20;

  private final Lexer lexer;
  private final boolean bigEndian;
  private int depth;

  TypeParser(Lexer lexer, boolean bigEndian) {
    this.lexer = lexer;
    this.bigEndian = bigEndian;
  }

  static Type.Struct nothing() {
    return NOTHING;
  }

  /** A type that is followed by anything but a declarator. */
  Type type(Scope scope) throws TraceFormatException {
    int place = lexer.place();
    Type type = keyword(scope);
    return type != null ? type : alias(scope, words(), place);
  }

  /** Whether a type is declared here without a field or a setting. */
  boolean isDeclaration() {
    return lexer.is("typealias")
        || lexer.is("typedef")
        || lexer.is("struct")
        || lexer.is("variant")
        || lexer.is("enum");
  }

  /** Declares types; the fields that come with them, or none. */
  List<Type.Field> declaration(Scope scope) throws TraceFormatException {
    int place = lexer.place();
    if (lexer.skip("typealias")) {
      Type type = type(scope);
      lexer.expect(":=");
      add(scope, String.join(" ", words()), type, place);
      lexer.expect(";");
      return List.of();
    }
    boolean definition = lexer.skip("typedef");
    List<Type.Field> fields = fields(scope);
    if (!definition) {
      return fields;
    }
    for (Type.Field field : fields) {
      add(scope, field.written(), field.type(), place);
    }
    return List.of();
  }

  private void add(Scope scope, String name, Type type, int place) throws TraceFormatException {
    if (!scope.add(name, type)) {
      throw lexer.damaged(place, "the type \"" + name + "\" is there already");
    }
  }

  private List<Type.Field> fields(Scope scope) throws TraceFormatException {
    int place = lexer.place();
    List<Type.Field> fields = new ArrayList<>(1);
    Type type = keyword(scope);
    String name;
    if (type != null) {
      boolean named = !(type instanceof Type.Int || type instanceof Type.Real);
      if (named && lexer.skip(";")) {
        return fields;
      }
      name = lexer.word();
    } else {
      List<String> words = words();
      if (words.size() < 2) {
        throw lexer.unexpected("the name of a field");
      }
      name = words.getLast();
      type = alias(scope, words.subList(0, words.size() - 1), place);
    }
    while (true) {
      fields.add(Type.Field.of(name, dimensions(type, 0)));
      if (!lexer.skip(",")) {
        break;
      }
      name = lexer.word();
    }
    lexer.expect(";");
    return fields;
  }

  /** The first dimension is the outermost. */
  private Type dimensions(Type element, int before) throws TraceFormatException {
    int place = lexer.place();
    if (!lexer.skip("[")) {
      return element;
    }
    if (before > Type.DEPTH) {
      throw lexer.damaged(place, "an array has too many dimensions");
    }
    Type list;
    if (lexer.kind() == Lexer.Kind.NUMBER) {
      long length = lexer.number();
      if (length < 0 || length > Integer.MAX_VALUE) {
        throw lexer.unexpected("a length below 2^31");
      }
      lexer.advance();
      lexer.expect("]");
      list = new Type.Array(dimensions(element, before + 1), length);
    } else {
      String length = path();
      lexer.expect("]");
      list = new Type.Sequence(dimensions(element, before + 1), length);
    }
    return small(list, place);
  }

  /** Names with dots between them. */
  String path() throws TraceFormatException {
    StringBuilder path = new StringBuilder(lexer.word());
    while (lexer.is(".") || lexer.is("->")) {
      lexer.advance();
      path.append('.').append(lexer.word());
    }
    return path.toString();
  }

  private List<String> words() throws TraceFormatException {
    List<String> words = new ArrayList<>(2);
    while (lexer.kind() == Lexer.Kind.WORD || (lexer.is("*") && !words.isEmpty())) {
      if (!lexer.is("const")) {
        words.add(lexer.value());
      }
      lexer.advance();
    }
    if (words.isEmpty()) {
      throw lexer.unexpected("a type");
    }
    return words;
  }

  private Type alias(Scope scope, List<String> words, int place) throws TraceFormatException {
    String name = String.join(" ", words);
    return known(scope, name, place);
  }

  private Type known(Scope scope, String name, int place) throws TraceFormatException {
    Type type = scope.find(name);
    if (type == null) {
      throw lexer.damaged(place, "there is no type \"" + name + "\"");
    }
    return type;
  }

  private @Nullable Type keyword(Scope scope) throws TraceFormatException {
    int place = lexer.place();
    if (++depth > Type.DEPTH) {
      throw lexer.damaged(place, "types are nested too deeply");
    }
    Type type = null;
    if (lexer.skip("integer")) {
      type = new Attributes(lexer, bigEndian).integer(place);
    } else if (lexer.skip("floating_point")) {
      type = new Attributes(lexer, bigEndian).real(place);
    } else if (lexer.skip("string")) {
      if (lexer.is("{")) {
        new Attributes(lexer, bigEndian).ignored();
      }
      type = new Type.Text();
    } else if (lexer.skip("struct")) {
      type = struct(scope, place);
    } else if (lexer.skip("variant")) {
      type = variant(scope, place);
    } else if (lexer.skip("enum")) {
      type = enumeration(scope, place);
    }
    depth--;
    return type == null ? null : small(type, place);
  }

  private Type small(Type type, int place) throws TraceFormatException {
    if (type.nodes() > Type.LIMIT || type.depth() > Type.DEPTH) {
      throw lexer.damaged(place, "a type of so many parts is not read");
    }
    return type;
  }

  private @Nullable String name() throws TraceFormatException {
    return lexer.kind() == Lexer.Kind.WORD ? lexer.word() : null;
  }

  private List<Type.Field> body(Scope scope) throws TraceFormatException {
    Scope inner = new Scope(scope);
    List<Type.Field> fields = new ArrayList<>();
    lexer.expect("{");
    while (!lexer.skip("}")) {
      fields.addAll(declaration(inner));
      if (fields.size() > Type.LIMIT) {
        throw lexer.unexpected("the end of a list of so many fields");
      }
    }
    return fields;
  }

  private Type struct(Scope scope, int place) throws TraceFormatException {
    String name = lexer.is("align") ? null : name();
    if (!lexer.is("{")) {
      if (name == null) {
        throw lexer.unexpected("the name or the fields of a structure");
      }
      return known(scope, "struct " + name, place);
    }
    List<Type.Field> fields = body(scope);
    long align = 1;
    if (lexer.skip("align")) {
      lexer.expect("(");
      align = alignment(lexer);
      lexer.expect(")");
    }
    Type.Struct struct = new Type.Struct(fields, (int) align);
    if (name != null) {
      add(scope, "struct " + name, small(struct, place), place);
    }
    return struct;
  }

  static long alignment(Lexer lexer) throws TraceFormatException {
    long align = lexer.kind() == Lexer.Kind.NUMBER ? lexer.number() : 0;
    if (align < 1 || align > MAX_ALIGN || Long.bitCount(align) != 1) {
      throw lexer.unexpected("a power of two as alignment");
    }
    lexer.advance();
    return align;
  }

  private Type variant(Scope scope, int place) throws TraceFormatException {
    String name = name();
    String tag = null;
    if (lexer.skip("<")) {
      tag = path();
      lexer.expect(">");
    }
    if (lexer.is("{")) {
      Type.Variant variant = new Type.Variant(tag, body(scope));
      if (name != null) {
        add(scope, "variant " + name, small(variant, place), place);
      }
      return variant;
    }
    if (name == null) {
      throw lexer.unexpected("the name or the choices of a variant");
    }
    Type known = known(scope, "variant " + name, place);
    return known instanceof Type.Variant variant && tag != null
        ? new Type.Variant(tag, variant.options())
        : known;
  }

  private Type enumeration(Scope scope, int place) throws TraceFormatException {
    String name = name();
    Type container = null;
    if (lexer.skip(":")) {
      container = type(scope);
    }
    if (!lexer.is("{")) {
      if (name == null || container != null) {
        throw lexer.unexpected("the labels of an enumeration");
      }
      return known(scope, "enum " + name, place);
    }
    if (container == null) {
      container = known(scope, "int", place);
    }
    if (!(container instanceof Type.Int integer)) {
      throw lexer.damaged(place, "an enumeration is an integer");
    }
    Type.Enumeration enumeration = new Type.Enumeration(integer, labels(integer));
    if (name != null) {
      add(scope, "enum " + name, enumeration, place);
    }
    return enumeration;
  }

  private List<Type.Label> labels(Type.Int container) throws TraceFormatException {
    List<Type.Label> labels = new ArrayList<>();
    long next = 0;
    lexer.expect("{");
    while (!lexer.skip("}")) {
      if (lexer.kind() != Lexer.Kind.LITERAL && lexer.kind() != Lexer.Kind.WORD) {
        throw lexer.unexpected("a label");
      }
      String text = lexer.value();
      lexer.advance();
      long low = next;
      long high = next;
      if (lexer.skip("=")) {
        low = value(container);
        high = lexer.skip("...") ? value(container) : low;
      }
      labels.add(new Type.Label(text, low, high));
      next = high + 1;
      if (!lexer.skip(",") && !lexer.is("}")) {
        throw lexer.unexpected("\",\" or \"}\"");
      }
    }
    return labels;
  }

  private long value(Type.Int container) throws TraceFormatException {
    int place = lexer.place();
    boolean negative = lexer.skip("-");
    if (!negative) {
      lexer.skip("+");
    }
    if (lexer.kind() != Lexer.Kind.NUMBER) {
      throw lexer.unexpected("a number");
    }
    BigInteger value = new BigInteger(Long.toUnsignedString(lexer.number()));
    value = negative ? value.negate() : value;
    boolean fits =
        container.signed()
            ? value.bitLength() < Long.SIZE
            : value.signum() >= 0 && value.bitLength() <= Long.SIZE;
    if (!fits) {
      throw lexer.damaged(place, "an enumeration's value is beyond its integer");
    }
    lexer.advance();
    return value.longValue();
  }
}
