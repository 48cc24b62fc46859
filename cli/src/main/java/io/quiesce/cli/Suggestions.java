package io.quiesce.cli;

import java.util.Comparator;
import java.util.List;

/** Close matches of a misspelt name. */
final class Suggestions {
  private Suggestions() {}

  static List<String> of(String word, List<String> names) {
    return names.stream()
        .filter(name -> distance(word, name) <= Math.max(2, name.length() / 3) || part(word, name))
        .sorted(Comparator.comparingInt(name -> distance(word, name)))
        .limit(3)
        .toList();
  }

  private static boolean part(String word, String name) {
    return word.length() >= 3 && (name.contains(word) || word.contains(name));
  }

  /** The edit distance of Levenshtein. */
  static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
