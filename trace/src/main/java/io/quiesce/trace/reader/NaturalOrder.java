package io.quiesce.trace.reader;

import java.math.BigInteger;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names in the order of people: {@code channel0_2} before {@code channel0_10}. */
final class NaturalOrder {
  static final Comparator<Path> PATHS = (a, b) -> compare(a.toString(), b.toString());

  private static final Pattern RUN = Pattern.compile("\\d+|\\D+");

  private NaturalOrder() {}

  static int compare(String a, String b) {
    Matcher left = RUN.matcher(a);
    Matcher right = RUN.matcher(b);
    while (left.find() && right.find()) {
      String first = left.group();
      String second = right.group();
      boolean numbers = isDigit(first) && isDigit(second);
      int order =
          numbers
              ? new BigInteger(first).compareTo(new BigInteger(second))
              : first.compareTo(second);
      if (order != 0) {
        return order;
      }
    }
    return a.compareTo(b);
  }

  private static boolean isDigit(String run) {
    return run.charAt(0) >= '0' && run.charAt(0) <= '9';
  }
}
