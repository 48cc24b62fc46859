package io.quiesce.trace.point;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.ctf.FieldType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FiltersTest {
  private static final List<Field> FIELDS =
      List.of(
          Field.signed("n", 32),
          Field.hex("u", 64),
          Field.real("d", 64),
          Field.text("s"),
          new Field("side", FieldType.Enumeration.of(List.of("BUY", "SELL"))),
          Field.bytes("raw"),
          Field.unsigned("z", 8),
          Field.hex("b", 8));

  private static boolean test(String expression, Object... values) {
    return Filters.parse(expression, FIELDS).test(values);
  }

  private static boolean usual(String expression) {
    return test(expression, -5, -1L, 0.1, "QSC.DE", "SELL", new byte[0], true, (byte) -1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "n == -5",
        "n==-5&&n<0",
        "n < -4",
        "n <= -5",
        "n > -5.5",
        "n >= -5e0",
        "n != 5",
        "n < 1e300",
        "u == 0xffffffffffffffff",
        "u > 9223372036854775807",
        "b == 255",
        "b > 0xfe",
        "z == 1",
        "d > 0.1", // The double nearest to 0.1 is a little more.
        "d < 0.10000000000000001",
        "s == 'QSC.DE'",
        "s == \"QSC*\"",
        "s == '*DE'",
        "s == 'Q*.*E'",
        "s == '*'",
        "s != 'QSC'",
        "s != 'QSC.DE*QSC.DE'",
        "s != '\\*'",
        "side == 'SELL'",
        "side != 'B*'",
        "n == 1 || n == -5",
        "n == -5 || n == 1 && n == 2",
        "(n == -5 || n == 1) && u != 0",
        "!(n == 1)",
        "!!(n == -5)",
        "  ",
      })
  void holds(String expression) {
    assertThat(usual(expression)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "n == 5",
        "n > -5",
        "n == -5.5",
        "u < 0",
        "d == 0.1",
        "d < 0",
        "s == 'qsc.de'",
        "s == 'QSC.DE*QSC.DE'",
        "s == '*X*'",
        "s == '*SC.*C.DE'",
        "s == '\\*'",
        "side != 'SELL'",
        "(n == -5 || n == 1) && n == 2",
        "!(n == -5)",
        "!(n == -5 && u != 0)",
      })
  void doesNotHold(String expression) {
    assertThat(usual(expression)).isFalse();
  }

  @Test
  void nanIsUnequalToAll() {
    for (String operator : List.of("==", "<", "<=", ">", ">=")) {
      assertThat(test("d " + operator + " 0", 0, 0L, Double.NaN)).isFalse();
    }
    assertThat(test("d != 0", 0, 0L, Double.NaN)).isTrue();
    assertThat(test("d > 1e999", 0, 0L, Double.POSITIVE_INFINITY)).isTrue();
    assertThat(test("d < 0", 0, 0L, Float.NEGATIVE_INFINITY)).isTrue();
  }

  @Test
  void everyEventPassesABlankOne() {
    assertThat(Filters.parse(" \t", FIELDS)).isSameAs(EventFilter.ALL);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "n | 2 | ==, !=, <, <=, > or >= is expected",
        "n = 1 | 3 | is expected",
        "n == | 5 | n is a number",
        "n == 'x' | 6 | n is a number",
        "n == 1x | 6 | n is a number",
        "n == 0xfffffffffffffffff | 6 | n is a number",
        "n == 1 x | 8 | &&, || or the end",
        "n == 1 && | 10 | a field, ! or ( is expected",
        "m == 1 | 1 | there is no field m among n, u, d",
        "s == 1 | 6 | s is text, so a string",
        "s < 'x' | 3 | only == and !=",
        "s == 'x | 6 | the string has no end",
        "raw == 1 | 1 | raw is an array",
        "(n == 1 | 8 | ) is expected, for the ( at 1",
        "!n == 1 | 2 | ( is expected behind !",
        "n == 1) | 7 | or the end",
      })
  void errorsNameThePlace(String expression, int place, String message) {
    assertThatThrownBy(() -> Filters.parse(expression, FIELDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + expression + "' is wrong at character " + place + ": ")
        .hasMessageContaining(message);
  }

  @Test
  void parenthesesWithoutEndOverflowNothing() {
    assertThatThrownBy(() -> Filters.parse("(".repeat(100_000), FIELDS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nested deeper");
    assertThat(usual("n == -5" + " && n == -5".repeat(10_000))).isTrue();
  }
}
