package io.quiesce.trace.point;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.FieldType;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Conditions on an event's fields, in the part of LTTng's language that is used most:
 *
 * <pre>
 *   or          = and { "||" and }
 *   and         = term { "&amp;&amp;" term }
 *   term        = "!" term | "(" or ")" | comparison
 *   comparison  = field ( "==" | "!=" | "&lt;" | "&lt;=" | "&gt;" | "&gt;=" ) ( number | string )
 *   number      = [ "-" | "+" ] ( digits [ "." digits ] [ exponent ] | "0x" hex digits )
 *   string      = 'text' or "text"; * stands for any characters, \ makes the next one plain
 * </pre>
 *
 * <p>Integers and reals are compared with numbers, by value and without rounding; a NaN is unequal
 * to all. Texts and enums are compared with strings, an enum by its constant's name, and only for
 * equality. Arrays cannot be compared. A field's name is letters, digits and underscores.
 */
public final class Filters {
  /** More parentheses would only overflow the stack. */
  private static final int DEEPEST = 100;

  private static final String OPERATORS = "==, !=, <, <=, > or >=";

  private final String text;
  private final List<Field> fields;
  private int at;
  private int depth;

  private Filters(String text, List<Field> fields) {
    this.text = text;
    this.fields = fields;
  }

  /**
   * The filter that an expression describes.
   *
   * @param expression blank for all events
   * @param fields that it may name
   * @throws IllegalArgumentException in one sentence, with the position, if it makes no sense
   */
  public static EventFilter parse(String expression, List<Field> fields) {
    if (expression.isBlank()) {
      return EventFilter.ALL;
    }
    Filters parser = new Filters(expression, List.copyOf(fields));
    Predicate<Object[]> condition = parser.or();
    parser.skipBlanks();
    if (parser.at < expression.length()) {
      throw parser.wrong(parser.at, "&&, || or the end is expected");
    }
    return condition::test;
  }

  private Predicate<Object[]> or() {
    List<Predicate<Object[]>> parts = new ArrayList<>(List.of(and()));
    while (skip("||")) {
      parts.add(and());
    }
    return parts.size() == 1 ? parts.getFirst() : values -> any(parts, values);
  }

  private Predicate<Object[]> and() {
    List<Predicate<Object[]>> parts = new ArrayList<>(List.of(term()));
    while (skip("&&")) {
      parts.add(term());
    }
    return parts.size() == 1 ? parts.getFirst() : values -> all(parts, values);
  }

  private static boolean any(List<Predicate<Object[]>> parts, Object[] values) {
    for (Predicate<Object[]> part : parts) {
      if (part.test(values)) {
        return true;
      }
    }
    return false;
  }

  private static boolean all(List<Predicate<Object[]>> parts, Object[] values) {
    for (Predicate<Object[]> part : parts) {
      if (!part.test(values)) {
        return false;
      }
    }
    return true;
  }

  private Predicate<Object[]> term() {
    skipBlanks();
    int began = at;
    if (++depth > DEEPEST) {
      throw wrong(at, "it is nested deeper than " + DEEPEST);
    }
    Predicate<Object[]> term;
    if (skip("!")) {
      skipBlanks();
      if (!text.startsWith("(", at) && !text.startsWith("!", at)) {
        throw wrong(at, "( is expected behind !");
      }
      term = term().negate();
    } else if (skip("(")) {
      term = or();
      if (!skip(")")) {
        throw wrong(at, ") is expected, for the ( at " + (began + 1));
      }
    } else {
      term = comparison();
    }
    depth--;
    return term;
  }

  private Predicate<Object[]> comparison() {
    int began = at;
    int index = index(word(), began);
    skipBlanks();
    int operatorAt = at;
    String operator = operator();
    skipBlanks();
    int literalAt = at;
    Field field = fields.get(index);
    return switch (field.type()) {
      case FieldType.Int type -> {
        Predicate<Object> test = integer(type, operator, number(field));
        yield values -> test.test(values[index]);
      }
      case FieldType.Real _ -> {
        Predicate<Object> test = real(operator, number(field));
        yield values -> test.test(values[index]);
      }
      case FieldType.Text _, FieldType.Enumeration _ -> {
        if (!operator.equals("==") && !operator.equals("!=")) {
          throw wrong(operatorAt, field.name() + " is text, which only == and != compare");
        }
        Predicate<String> test = string(field, literalAt);
        boolean equal = operator.equals("==");
        yield values -> test.test((String) values[index]) == equal;
      }
      case FieldType.Array _, FieldType.Sequence _ ->
          throw wrong(began, field.name() + " is an array, which cannot be compared");
    };
  }

  private int index(String name, int began) {
    if (name.isEmpty()) {
      throw wrong(began, "a field, ! or ( is expected");
    }
    for (int i = 0; i < fields.size(); i++) {
      if (fields.get(i).name().equals(name)) {
        return i;
      }
    }
    String known = String.join(", ", fields.stream().map(Field::name).toList());
    throw wrong(
        began,
        "there is no field " + name + (fields.isEmpty() ? ", nor any other" : " among " + known));
  }

  private String word() {
    int began = at;
    while (at < text.length() && (Character.isLetterOrDigit(text.charAt(at)) || isUnder())) {
      at++;
    }
    return text.substring(began, at);
  }

  private boolean isUnder() {
    return text.charAt(at) == '_' || text.charAt(at) == '$';
  }

  private String operator() {
    for (String operator : List.of("==", "!=", "<=", ">=", "<", ">")) {
      if (skip(operator)) {
        return operator;
      }
    }
    throw wrong(at, OPERATORS + " is expected");
  }

  private static IntPredicate sign(String operator) {
    return switch (operator) {
      case "==" -> sign -> sign == 0;
      case "!=" -> sign -> sign != 0;
      case "<" -> sign -> sign < 0;
      case "<=" -> sign -> sign <= 0;
      case ">" -> sign -> sign > 0;
      default -> sign -> sign >= 0;
    };
  }

  private static Predicate<Object> integer(
      FieldType.Int type, String operator, BigDecimal literal) {
    IntPredicate wanted = sign(operator);
    int unused = Long.SIZE - type.bits();
    if (!type.signed() && unused == 0) {
      return value -> wanted.test(unsigned(integer(value)).compareTo(literal));
    }
    boolean whole = isLong(literal);
    long simple = whole ? literal.longValueExact() : 0;
    return value -> {
      long bits = integer(value);
      long number = type.signed() ? bits : bits << unused >>> unused;
      return wanted.test(
          whole ? Long.compare(number, simple) : BigDecimal.valueOf(number).compareTo(literal));
    };
  }

  private static boolean isLong(BigDecimal number) {
    try {
      long _ = number.longValueExact();
      return true;
    } catch (ArithmeticException _) {
      return false;
    }
  }

  private static BigDecimal unsigned(long bits) {
    return new BigDecimal(Long.toUnsignedString(bits));
  }

  private static long integer(Object value) {
    return switch (value) {
      case Character c -> c;
      case Boolean b -> b ? 1 : 0;
      default -> ((Number) value).longValue();
    };
  }

  private static Predicate<Object> real(String operator, BigDecimal literal) {
    IntPredicate wanted = sign(operator);
    boolean unequal = operator.equals("!=");
    return value -> {
      double number = ((Number) value).doubleValue();
      if (Double.isNaN(number)) {
        return unequal;
      }
      return wanted.test(
          Double.isInfinite(number)
              ? (int) Math.signum(number)
              : new BigDecimal(number).compareTo(literal));
    };
  }

  private BigDecimal number(Field field) {
    int began = at;
    boolean negative = skip("-");
    if (!negative) {
      boolean _ = skip("+");
    }
    BigDecimal number = text.startsWith("0x", at) ? hex(began, field) : decimal(began, field);
    return negative ? number.negate() : number;
  }

  private BigDecimal hex(int began, Field field) {
    at += 2;
    String digits = word();
    if (!digits.matches("[0-9a-fA-F]{1,16}")) {
      throw noNumber(began, field);
    }
    return unsigned(Long.parseUnsignedLong(digits, 16));
  }

  private BigDecimal decimal(int began, Field field) {
    var matcher =
        Pattern.compile("\\d{1,40}(\\.\\d{0,40})?([eE][-+]?\\d{1,3})?(?![\\w.])").matcher(text);
    if (!matcher.find(at) || matcher.start() != at) {
      throw noNumber(began, field);
    }
    at = matcher.end();
    return new BigDecimal(matcher.group());
  }

  private IllegalArgumentException noNumber(int began, Field field) {
    return wrong(began, field.name() + " is a number, so a number is expected");
  }

  private Predicate<String> string(Field field, int began) {
    char quote = at < text.length() ? text.charAt(at) : ' ';
    if (quote != '\'' && quote != '"') {
      throw wrong(began, field.name() + " is text, so a string in quotes is expected");
    }
    StringBuilder plain = new StringBuilder();
    List<String> parts = new ArrayList<>();
    for (at++; at < text.length(); at++) {
      char c = text.charAt(at);
      if (c == quote) {
        at++;
        parts.add(plain.toString());
        List<String> all = List.copyOf(parts);
        return value -> matches(value, all);
      }
      if (c == '*') {
        parts.add(plain.toString());
        plain.setLength(0);
      } else {
        if (c == '\\' && at + 1 < text.length()) {
          at++;
        }
        plain.append(text.charAt(at));
      }
    }
    throw wrong(began, "the string has no end");
  }

  /** Whether the parts are in the text, in that order, with anything between them. */
  private static boolean matches(String text, List<String> parts) {
    String first = parts.getFirst();
    if (parts.size() == 1) {
      return text.equals(first);
    }
    String last = parts.getLast();
    if (text.length() < first.length() + last.length()
        || !text.startsWith(first)
        || !text.endsWith(last)) {
      return false;
    }
    int from = first.length();
    int end = text.length() - last.length();
    for (int i = 1; i < parts.size() - 1; i++) {
      String part = parts.get(i);
      int found = text.indexOf(part, from);
      if (found < 0 || found + part.length() > end) {
        return false;
      }
      from = found + part.length();
    }
    return true;
  }

  private boolean skip(String expected) {
    skipBlanks();
    if (!text.startsWith(expected, at)) {
      return false;
    }
    at += expected.length();
    return true;
  }

  private void skipBlanks() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private IllegalArgumentException wrong(int place, String what) {
    return new IllegalArgumentException(
        "The filter '" + text + "' is wrong at character " + (place + 1) + ": " + what);
  }
}
