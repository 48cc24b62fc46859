package io.quiesce.trace.ctf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamesTest {
  private final Names names = new Names();

  @Test
  void fieldNamesAreIdentifiersBehindAnUnderscore() {
    assertThat(names.field("qty")).isEqualTo("_qty");
    assertThat(names.field("string")).isEqualTo("_string");
    assertThat(names.field("_x")).isEqualTo("__x");
    assertThat(names.field("9")).isEqualTo("_9");
    assertThat(names.field("a-b c")).isEqualTo("_a_b_c");
    assertThat(names.field("gr\u00f6\u00dfe")).isEqualTo("_gr_u00f6_u00dfe");
    assertThat(names.field("\ud83d\ude00")).isEqualTo("__u01f600");
    assertThat(names.field("\ud800")).isEqualTo("__ud800");
    assertThat(names.field("\0")).isEqualTo("__");
    assertThat(names.field("")).isEqualTo("_unnamed");
  }

  @Test
  void keywordsThatBeginWithAnUnderscoreGetAnother() {
    assertThat(names.field("Bool")).isEqualTo("_Bool_");
    assertThat(names.field("Complex")).isEqualTo("_Complex_");
    assertThat(names.field("Imaginary")).isEqualTo("_Imaginary_");
  }

  @Test
  void equalNamesGetNumbers() {
    assertThat(names.field("a b")).isEqualTo("_a_b");
    assertThat(names.field("a_b_2")).isEqualTo("_a_b_2");
    assertThat(names.field("a-b")).isEqualTo("_a_b_3");
    assertThat(names.field("a b")).isEqualTo("_a_b_4");
  }

  @Test
  void noNameIsAnEarlierOneAsReadersShowIt() {
    assertThat(names.field("_x")).isEqualTo("__x");
    assertThat(names.field("x")).isEqualTo("_x_2");
    assertThat(names.field("y")).isEqualTo("_y");
    assertThat(names.field("_y")).isEqualTo("__y");
  }

  @Test
  void longNamesAreCut() {
    assertThat(names.field("x".repeat(10_000))).hasSize(1 + Names.MAX_LENGTH);
    assertThat(names.field("\u00e4".repeat(10_000))).hasSize(1 + Names.MAX_LENGTH);
  }

  @Test
  void keysKeepTheirNameUnlessTheLanguageHasIt() {
    assertThat(names.key("vpid")).isEqualTo("vpid");
    assertThat(names.key("string")).isEqualTo("_string");
    assertThat(names.key("1st")).isEqualTo("_1st");
    assertThat(names.key("")).isEqualTo("_");
  }

  @Test
  void literalsHoldNoLineBreakAndNoOpenQuote() {
    assertThat(Names.literal("a\"b\\")).isEqualTo("\"a\\\"b\\\\\"");
    assertThat(Names.literal("\n\r\0\u0085\ud800x"))
        .isEqualTo("\"\ufffd\ufffd\ufffd\ufffd\ufffdx\"");
    assertThat(Names.literal("\u00e4\ud83d\ude00")).isEqualTo("\"\u00e4\ud83d\ude00\"");
  }
}
