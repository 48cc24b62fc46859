package io.quiesce.trace.reader;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.quiesce.trace.TraceFormat;
import io.quiesce.trace.ctf.EventType;
import io.quiesce.trace.ctf.RandomEvents;
import io.quiesce.trace.ctf.TraceDescription;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each fragment of the writer against the tables of CTF2-SPEC-2.0, section 5, which are here once
 * more: the reader accepts less in some places, and must not be what decides.
 */
class FragmentRulesTest {
  /** Of each kind of object: required properties, a bar, and those that may be there. */
  private static final Map<String, String> RULES =
      Map.ofEntries(
          Map.entry("preamble", "type version | uuid"),
          Map.entry("trace-class", "type | uid environment packet-header-field-class"),
          Map.entry(
              "clock-class",
              "type id frequency | name uid origin offset-from-origin precision description"),
          Map.entry(
              "data-stream-class",
              "type | id default-clock-class-id packet-context-field-class"
                  + " event-record-header-field-class event-record-common-context-field-class"),
          Map.entry(
              "event-record-class",
              "type | id data-stream-class-id name payload-field-class attributes"),
          Map.entry(
              "fixed-length-unsigned-integer",
              "type length byte-order | alignment preferred-display-base mappings roles"),
          Map.entry(
              "fixed-length-signed-integer",
              "type length byte-order | alignment preferred-display-base mappings"),
          Map.entry("fixed-length-floating-point-number", "type length byte-order | alignment"),
          Map.entry("null-terminated-string", "type | encoding"),
          Map.entry("static-length-blob", "type length | roles"),
          Map.entry("structure", "type | member-classes minimum-alignment"),
          Map.entry("static-length-array", "type element-field-class length |"),
          Map.entry("dynamic-length-array", "type element-field-class length-field-location |"),
          Map.entry("variant", "type options selector-field-location |"));

  private static final Map<String, String> ROLES =
      Map.of(
          "packet-header",
          "packet-magic-number metadata-stream-uuid data-stream-class-id data-stream-id",
          "packet-context",
          "default-clock-timestamp packet-end-default-clock-timestamp packet-content-length"
              + " packet-total-length packet-sequence-number"
              + " discarded-event-record-counter-snapshot",
          "event-record-header",
          "event-record-class-id default-clock-timestamp");

  @TempDir Path folder;

  private final Map<String, Integer> kinds = new HashMap<>();
  private final Set<String> roles = new HashSet<>();

  private static Set<String> words(String text) {
    return new HashSet<>(Arrays.asList(text.strip().split(" +", -1)));
  }

  private JsonObject checked(Json json) throws TraceFormatException {
    JsonObject object = (JsonObject) json;
    String kind = object.string("type");
    kinds.merge(kind, 1, Integer::sum);
    String[] rule = requireNonNull(RULES.get(kind), kind).split("\\|", -1);
    Set<String> required = words(rule[0]);
    assertThat(object.members().keySet()).as(kind).containsAll(required);
    Set<String> rest = new HashSet<>(object.members().keySet());
    rest.removeAll(required);
    assertThat(words(rule[1])).as(kind).containsAll(rest);
    return object;
  }

  private void type(Json json, String origin, List<String> before) throws TraceFormatException {
    JsonObject type = checked(json);
    for (Json role : type.items("roles")) {
      String name = ((Json.Text) role).value();
      assertThat(words(ROLES.getOrDefault(origin, ""))).contains(name);
      roles.add(name);
    }
    if (type.get("byte-order") != null) {
      assertThat(type.string("byte-order")).isEqualTo("little-endian");
      assertThat(type.number("length", 1, 64)).isPositive();
    }
    if (type.get("alignment") != null) {
      assertThat(Long.bitCount(type.number("alignment", 1, 64))).isEqualTo(1);
    }
    switch (type.string("type")) {
      case "structure" -> {
        List<String> names = new ArrayList<>();
        for (Json member : type.items("member-classes")) {
          JsonObject object = (JsonObject) member;
          assertThat(object.members()).containsOnlyKeys("name", "field-class");
          assertThat(names).doesNotContain(object.string("name"));
          type(object.required("field-class"), origin, names);
          names.add(object.string("name"));
        }
      }
      case "static-length-array" -> {
        assertThat(type.number("length", 0, Integer.MAX_VALUE)).isPositive();
        type(type.required("element-field-class"), origin, before);
      }
      case "dynamic-length-array" -> {
        location(requireNonNull(type.object("length-field-location")), origin, before);
        type(type.required("element-field-class"), origin, before);
      }
      case "variant" -> {
        location(requireNonNull(type.object("selector-field-location")), origin, before);
        for (Json option : type.items("options")) {
          JsonObject object = (JsonObject) option;
          assertThat(object.members())
              .containsOnlyKeys("name", "field-class", "selector-field-ranges");
          ranges(object.required("selector-field-ranges"));
          type(object.required("field-class"), origin, before);
        }
      }
      default -> {
        JsonObject mappings = type.object("mappings");
        if (mappings != null) {
          for (Json mapping : mappings.members().values()) {
            ranges(mapping);
          }
        }
      }
    }
  }

  /** What is located comes before. */
  private static void location(JsonObject location, String origin, List<String> before)
      throws TraceFormatException {
    assertThat(location.members()).containsOnlyKeys("origin", "path");
    assertThat(location.string("origin")).isEqualTo(origin);
    assertThat(location.items("path")).hasSize(1);
    assertThat(before).contains(((Json.Text) location.items("path").getFirst()).value());
  }

  private static void ranges(Json ranges) {
    assertThat(((Json.Items) ranges).elements()).isNotEmpty();
    for (Json range : ((Json.Items) ranges).elements()) {
      List<Json> bounds = ((Json.Items) range).elements();
      assertThat(bounds).hasSize(2);
      BigInteger low = ((Json.Whole) bounds.get(0)).value();
      assertThat(low).isLessThanOrEqualTo(((Json.Whole) bounds.get(1)).value());
    }
  }

  private void part(JsonObject fragment, String property, String origin)
      throws TraceFormatException {
    Json type = fragment.get(property);
    if (type != null) {
      assertThat(((JsonObject) type).string("type")).isEqualTo("structure");
      type(type, origin, List.of());
    }
  }

  private void fragment(Json json) throws TraceFormatException {
    JsonObject fragment = checked(json);
    switch (fragment.string("type")) {
      case "preamble" -> {
        assertThat(fragment.number("version", 0, 9)).isEqualTo(2);
        assertThat(fragment.items("uuid")).hasSize(16);
      }
      case "trace-class" -> part(fragment, "packet-header-field-class", "packet-header");
      case "clock-class" -> {
        assertThat(fragment.string("origin")).isEqualTo("unix-epoch");
        JsonObject offset = requireNonNull(fragment.object("offset-from-origin"));
        assertThat(offset.members()).containsOnlyKeys("seconds", "cycles");
        long frequency = fragment.number("frequency", 1, Long.MAX_VALUE);
        assertThat(offset.number("cycles", 0, frequency - 1)).isNotNegative();
      }
      case "data-stream-class" -> {
        part(fragment, "packet-context-field-class", "packet-context");
        part(fragment, "event-record-header-field-class", "event-record-header");
        part(fragment, "event-record-common-context-field-class", "event-record-common-context");
      }
      default -> part(fragment, "payload-field-class", "event-record-payload");
    }
  }

  @Test
  void eachFragmentKeepsTheRules() throws Exception {
    for (int seed = 0; seed < 20; seed++) {
      RandomEvents kit = new RandomEvents(seed);
      TraceDescription trace =
          TraceDescription.ofThisProcess("rules", kit.fields(4)).in(TraceFormat.CTF_2);
      SampleTrace sample = new SampleTrace(folder.resolve("t" + seed), trace, 1, 4096, 1);
      try (sample) {
        for (int id = 0; id < 20; id++) {
          EventType type = kit.type(id);
          sample.add(type);
        }
      }
      Path file = sample.folder().resolve("metadata");
      List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
      assertThat(lines).hasSize(24).allMatch(line -> line.lastIndexOf('\u001e') == 0);
      int at = 0;
      MetadataText text = MetadataText.of(file, Files.readAllBytes(file), Damage.STRICT);
      for (String line : lines) {
        int length = line.getBytes(StandardCharsets.UTF_8).length;
        fragment(JsonParser.parse(text, at + 1, at + length));
        at += length + 1;
      }
    }
    assertThat(kinds.keySet()).isEqualTo(RULES.keySet());
    Set<String> all = new HashSet<>();
    ROLES.values().forEach(names -> all.addAll(words(names)));
    assertThat(roles).isEqualTo(all);
  }
}
