package io.quiesce.trace.reader;

import java.math.BigInteger;
import java.util.List;

/** A JSON value, and where in the metadata it stands. Immutable. */
sealed interface Json permits JsonObject, Json.Items, Json.Text, Json.Whole, Json.Other {

  /** Bytes from the start of the metadata's text. */
  int place();

  /** An array. */
  record Items(List<Json> elements, int place) implements Json {}

  /** A string. */
  record Text(String value, int place) implements Json {}

  /** A number without fraction and exponent. */
  record Whole(BigInteger value, int place) implements Json {}

  /** {@code true}, {@code false}, {@code null}, and numbers that are of no use to metadata. */
  record Other(String word, int place) implements Json {
    boolean isNull() {
      return word.equals("null");
    }
  }
}
