package io.quiesce.trace.reader;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Metadata of CTF 2 that others may write, and packets made bit by bit. Quotes are single here. */
class FragmentParserTest {
  private static final Path FILE = Path.of("folder", "metadata");
  private static final String PREAMBLE = "{'type':'preamble','version':2}";
  private static final String STREAM = "{'type':'data-stream-class'}";
  private static final String CLOCK =
      "{'type':'clock-class','id':'c','name':'mono','frequency':1000,'origin':'unix-epoch',"
          + "'offset-from-origin':{'seconds':1000,'cycles':500}}";

  @TempDir Path folder;

  private static byte[] bytes(String... fragments) {
    StringBuilder text = new StringBuilder();
    for (String fragment : fragments) {
      text.append('\u001e').append(fragment.replace('\'', '"')).append('\n');
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static TraceSchema parse(String... fragments) throws TraceFormatException {
    return SchemaParser.parse(
        MetadataText.of(FILE, bytes(fragments), Damage.STRICT), Damage.STRICT);
  }

  private static Type.Struct fields(String members) throws TraceFormatException {
    TraceSchema schema = parse(PREAMBLE, STREAM, event(members));
    return requireNonNull(requireNonNull(schema.streams().get(0L)).event(0)).fields();
  }

  private static String event(String members) {
    return "{'type':'event-record-class','name':'e','payload-field-class':{'type':'structure',"
        + "'member-classes':["
        + members
        + "]}}";
  }

  private static String member(String name, String type) {
    return "{'name':'" + name + "','field-class':{'type':" + type + "}}";
  }

  private static final String U8 =
      "'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian','alignment':8";

  @Test
  void theLeastMetadata() throws Exception {
    TraceSchema schema = parse(PREAMBLE, STREAM);
    assertThat(schema.uuid()).isNull();
    assertThat(schema.streams()).containsOnlyKeys(0L);
    assertThat(schema.clocks()).isEmpty();
  }

  @Test
  void whatFragmentsSay() throws Exception {
    TraceSchema schema =
        parse(
            "{'type':'preamble','version':2,'attributes':{'x':[1.5e3,null]},'extensions':{'y':{}},"
                + "'uuid':[1,35,69,103,137,171,205,239,129,35,69,103,137,171,205,239]}",
            "{'type':'trace-class','environment':{'a b':-5,'big':18446744073709551615,'t':'\\u00e4'}}",
            CLOCK,
            "{'type':'data-stream-class','id':7,'default-clock-class-id':'c'}",
            "{'type':'event-record-class','data-stream-class-id':7,'id':3,'name':'n',"
                + "'attributes':{'lttng.org,2009':{'log-level':13}}}");
    assertThat(schema.uuid()).isEqualTo(new UUID(0x0123456789abcdefL, 0x8123456789abcdefL));
    assertThat(schema.environment()).containsEntry("a b", -5L).containsEntry("t", "\u00e4");
    assertThat(schema.environment()).containsEntry("big", -1L);
    assertThat(schema.clocks())
        .containsEntry("c", new TraceClock("mono", null, "", 1000, 1000, 500));
    EventClass event = requireNonNull(requireNonNull(schema.streams().get(7L)).event(3));
    assertThat(event.level()).isEqualTo(13);
    assertThat(event.name()).isEqualTo("n");
  }

  @Test
  void packetsOfMetadataHoldFragmentsToo() throws Exception {
    byte[] text = bytes(PREAMBLE, STREAM);
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (int at = 0; at < text.length; at += 20) {
      int length = Math.min(20, text.length - at);
      ByteBuffer packet = ByteBuffer.allocate(37 + 24).order(ByteOrder.BIG_ENDIAN);
      packet.putInt(0, 0x75d11d57).putInt(24, (37 + length) * 8).putInt(28, (37 + 24) * 8);
      packet.put(35, (byte) 2).put(37, text, at, length);
      all.writeBytes(packet.array());
    }
    MetadataText metadata = MetadataText.of(FILE, all.toByteArray(), Damage.STRICT);
    assertThat(SchemaParser.parse(metadata, Damage.STRICT).streams()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'preamble','version':3}|versions 1.8 and 2",
        "{'type':'preamble'}|\"version\" is missing",
        "{'type':'preamble','version':'2'}|an integer is expected",
        "{'type':'preamble','version':2,'uuid':[1]}|uuid is none",
        "{'type':'preamble','version':2,'colour':1}|no property \"colour\"",
        "{'type':'preamble','version':2,'extensions':{'a':{'b':null}}}|extension \"b\" of \"a\"",
        "{'type':'preamble','version':2,'attributes':3}|\"attributes\" is an object",
        "{'type':'preamble','version':2} x|something follows",
        "{'type':'preamble','version':2,'version':2}|there already",
        "{'type':'preamble','version':2,}|name of a property",
        "{'type':'preamble','version':02}|no JSON number",
        "{'type':'preamble','version':2|\"}\" is expected",
        "{'type':'trace-class'}|the preamble is the first",
        "7|a fragment is an object",
      })
  void aPreambleThatIsNone(String preamble, String message) {
    assertThatThrownBy(() -> parse(preamble, STREAM))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageStartingWith(FILE + ", byte ")
        .hasMessageContaining(message)
        .message()
        .endsWith(".")
        .doesNotContain("\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'type':'preamble','version':2}|the preamble is the first",
        "{'type':'trace-class'}|before the data streams",
        "{'type':'data-stream-class'}|of this id is there already",
        "{'type':'data-stream-class','id':-1}|number of 64 bits",
        "{'type':'data-stream-class','id':1,'default-clock-class-id':'x'}|no clock \"x\"",
        "{'type':'event-record-class','data-stream-class-id':4}|before its data stream class",
        "{'type':'event-record-class','payload-field-class':'x'}|name of an earlier one",
        "{'type':'event-record-class','payload-field-class':{'type':'null-terminated-string'}}|is a structure",
        "{'type':'clock-class','id':'c','frequency':0}|from 1 to",
        "{'type':'clock-class','id':'c','frequency':5,'offset-from-origin':{'cycles':5}}|from 0 to 4",
        "{'type':'clock-class','id':'c','frequency':5,'origin':'now'}|unix-epoch",
        "{'type':'clock-class','frequency':5}|\"id\" is missing",
        "{'type':'field-class-alias','name':'a','field-class':'b'}|name of an earlier one",
        "{'type':'wish'}|no fragment \"wish\"",
      })
  void aFragmentThatCannotBe(String fragment, String message) {
    assertThatThrownBy(() -> parse(PREAMBLE, STREAM, fragment))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'variable-length-unsigned-integer'|variable length",
        "'fixed-length-unsigned-integer','length':65,'byte-order':'little-endian'|from 1 to 64",
        "'fixed-length-unsigned-integer','length':8|\"byte-order\" is missing",
        "'fixed-length-unsigned-integer','length':8,'byte-order':'le'|big-endian or little",
        "'fixed-length-unsigned-integer','length':8,'byte-order':'big-endian','bit-order':'first-to-last'|bit order",
        "'fixed-length-unsigned-integer','length':8,'byte-order':'big-endian','alignment':3|power of two",
        "'fixed-length-unsigned-integer','length':8,'byte-order':'big-endian','preferred-display-base':3|a base is",
        "'fixed-length-unsigned-integer','length':8,'byte-order':'big-endian','mappings':{'a':[]}|one range",
        "'fixed-length-unsigned-integer','length':8,'byte-order':'big-endian','mappings':{'a':[[2,1]]}|ends before",
        "'fixed-length-signed-integer','length':8,'byte-order':'big-endian','roles':['x']|is unsigned",
        "'fixed-length-floating-point-number','length':16,'byte-order':'big-endian'|32 or 64",
        "'null-terminated-string','encoding':'utf-16le'|UTF-8",
        "'static-length-string','length':-1|from 0 to",
        "'dynamic-length-string','length-field-location':{'path':[]}|ends with a name",
        "'dynamic-length-string','length-field-location':{'path':['x',null]}|ends with a name",
        "'dynamic-length-string','length-field-location':{'path':['x']}|no integer",
        "'dynamic-length-string','length-field-location':{'origin':'here','path':['x']}|no origin",
        "'dynamic-length-blob'|\"length-field-location\" is missing",
        "'variant','options':[],'selector-field-location':{'path':['x']}|has options",
        "'optional','field-class':{'type':'null-terminated-string'},'selector-field-location':{'path':['x']}|no integer",
        "'static-length-blob','length':1,'extensions':{'n':{'e':1}}|extension \"e\"",
        "'structure','members':[]|no property \"members\"",
        "'wish'|no type \"wish\"",
      })
  void aTypeThatCannotBe(String type, String message) {
    assertThatThrownBy(() -> fields(member("f", type)))
        .isInstanceOf(TraceFormatException.class)
        .hasMessageContaining(message);
  }

  @Test
  void optionsDoNotOverlap() {
    String option = "{'field-class':{'type':'null-terminated-string'},'selector-field-ranges':";
    assertThatThrownBy(
            () ->
                fields(
                    member("s", U8)
                        + ","
                        + member(
                            "v",
                            "'variant','selector-field-location':{'path':['s']},'options':["
                                + option
                                + "[[1,5]]},"
                                + option
                                + "[[0,0],[5,9]]}]")))
        .hasMessageContaining("chooses two options");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'a':'\\x'}",
        "{'a':'\\u12g4'}",
        "{'a':'\t'}",
        "{'a' 1}",
        "{'a':tru}",
        "{'a':1.}",
        "{'a':-}",
        "{'a':+1}",
        "{'a':.5}",
        "{'a':[1 2]}",
        "{'a':'",
        "{'a'",
        "[",
        "",
        "{\"a\":\"\u0000\"}"
      })
  void whatIsNoJson(String json) {
    MetadataText text = new Texts(json).text();
    assertThatThrownBy(() -> JsonParser.parse(text, 0, text.bytes().length))
        .isInstanceOf(TraceFormatException.class);
  }

  /** Makes a text of what may be empty. */
  private record Texts(String json) {
    MetadataText text() {
      try {
        byte[] bytes = json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        return MetadataText.of(FILE, bytes, Damage.STRICT);
      } catch (TraceFormatException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void whatIsJson() throws Exception {
    MetadataText text =
        new Texts(
                " { 'a\\n\\u0041\\/' : [ -0 , 12 , 1e5 , true , null , { } , [ ] ] ,\r\n\t"
                    + "'p':'\\ud83d\\ude00','l':'\\ud800x','u':'\u00e4' } ")
            .text();
    JsonObject object = (JsonObject) JsonParser.parse(text, 0, text.bytes().length);
    assertThat(object.members()).containsOnlyKeys("a\nA/", "p", "l", "u");
    assertThat(object.items("a\nA/")).hasSize(7);
    assertThat(object.string("p")).isEqualTo("\ud83d\ude00");
    assertThat(object.string("l")).isEqualTo("\ufffdx");
    assertThat(object.string("u")).isEqualTo("\u00e4");
  }

  @Test
  void theLimitsHold() {
    for (String json :
        List.of(
            "[".repeat(100_000), "[" + "1,".repeat(1 << 20) + "1]", "9".repeat(1_000_000) + "x")) {
      MetadataText text = new Texts(json).text();
      assertThatThrownBy(() -> JsonParser.parse(text, 0, text.bytes().length))
          .isInstanceOf(TraceFormatException.class);
    }
    String[] doubling = new String[52];
    doubling[0] = PREAMBLE;
    doubling[1] = "{'type':'field-class-alias','name':'0','field-class':{'type':'structure'}}";
    for (int i = 2; i < doubling.length; i++) {
      String last = "'field-class':'" + (i - 2) + "'}";
      doubling[i] =
          "{'type':'field-class-alias','name':'"
              + (i - 1)
              + "','field-class':{'type':'structure','member-classes':[{'name':'a',"
              + last
              + ",{'name':'b',"
              + last
              + "]}}";
    }
    assertThatThrownBy(() -> parse(doubling)).hasMessageContaining("so many");
  }

  private static final String HEADER_AND_CONTEXT =
      """
      {'type':'field-class-alias','name':'u32','field-class':{'type':'fixed-length-unsigned-integer',
        'length':32,'byte-order':'ORDER','alignment':8}}
      {'type':'field-class-alias','name':'again','field-class':'u32'}
      {'type':'field-class-alias','name':'time','field-class':{'type':'fixed-length-unsigned-integer',
        'length':64,'byte-order':'ORDER','alignment':8,'roles':['default-clock-timestamp']}}
      {'type':'trace-class','packet-header-field-class':{'type':'structure','member-classes':[
        {'name':'the magic','field-class':{'type':'fixed-length-unsigned-integer','length':32,
          'byte-order':'ORDER','roles':['packet-magic-number']}},
        {'name':'magic','field-class':'again'},
        {'name':'class','field-class':{'type':'fixed-length-unsigned-integer','length':16,
          'byte-order':'ORDER','roles':['data-stream-class-id']}}]}}
      {'type':'clock-class','id':'c','frequency':1000,'origin':'unix-epoch',
        'offset-from-origin':{'seconds':1000,'cycles':500}}
      {'type':'data-stream-class','id':9,'default-clock-class-id':'c',
       'packet-context-field-class':{'type':'structure','member-classes':[
        {'name':'from','field-class':'time'},
        {'name':'used','field-class':{'type':'fixed-length-unsigned-integer','length':32,
          'byte-order':'ORDER','roles':['packet-content-length']}},
        {'name':'timestamp_begin','field-class':'u32'},
        {'name':'cpu_id','field-class':'u32'}]},
       'event-record-header-field-class':{'type':'structure','minimum-alignment':8,'member-classes':[
        {'name':'sel','field-class':{'type':'fixed-length-unsigned-integer','length':5,
          'byte-order':'ORDER','roles':['event-record-class-id']}},
        {'name':'rest','field-class':{'type':'variant','selector-field-location':{'path':['sel']},
         'options':[
          {'selector-field-ranges':[[31,31]],'field-class':{'type':'structure','member-classes':[
           {'name':'long id','field-class':{'type':'fixed-length-unsigned-integer','length':32,
            'byte-order':'ORDER','alignment':8,'roles':['event-record-class-id']}},
           {'name':'when','field-class':'time'}]}},
          {'selector-field-ranges':[[0,30]],'field-class':{'type':'structure','member-classes':[
           {'name':'when','field-class':{'type':'fixed-length-unsigned-integer','length':27,
            'byte-order':'ORDER','roles':['default-clock-timestamp']}}]}}]}}]},
       'event-record-common-context-field-class':{'type':'structure','member-classes':[
        {'name':'count','field-class':'u32'}]}}
      {'type':'event-record-class','data-stream-class-id':9,'id':4000,'name':'deep',
       'payload-field-class':{'type':'structure','member-classes':[
        {'name':'flag','field-class':{'type':'fixed-length-boolean','length':8,'byte-order':'ORDER'}},
        {'name':'maybe','field-class':{'type':'optional','selector-field-location':{'path':['flag']},
          'field-class':'u32'}},
        {'name':'k','field-class':{'type':'fixed-length-signed-integer','length':8,
          'byte-order':'ORDER','mappings':{'neg':[[-200,-1]],'pos':[[1,3],[5,900]]}}},
        {'name':'fixed','field-class':{'type':'static-length-string','length':4}},
        {'name':'n','field-class':{'type':'fixed-length-unsigned-integer','length':8,
          'byte-order':'ORDER'}},
        {'name':'list','field-class':{'type':'static-length-array','length':2,'minimum-alignment':32,
         'element-field-class':{'type':'structure','member-classes':[
          {'name':'n','field-class':{'type':'fixed-length-unsigned-integer','length':8,
            'byte-order':'ORDER'}},
          {'name':'own','field-class':{'type':'dynamic-length-string',
            'length-field-location':{'path':['n']}}},
          {'name':'outer','field-class':{'type':'dynamic-length-blob',
            'length-field-location':{'path':[null,'n']}}},
          {'name':'same','field-class':{'type':'dynamic-length-string',
            'length-field-location':{'origin':'event-record-payload','path':['list','n']}}}]}}},
        {'name':'by context','field-class':{'type':'dynamic-length-array',
          'element-field-class':{'type':'null-terminated-string'},
          'length-field-location':{'origin':'event-record-common-context','path':['count']}}},
        {'name':'choice','field-class':{'type':'variant','selector-field-location':{'path':['k']},
         'options':[{'name':'low','selector-field-ranges':[[-128,-1]],'field-class':'u32'},
          {'selector-field-ranges':[[0,127]],'field-class':{'type':'null-terminated-string'}}]}},
        {'name':'bits','field-class':{'type':'fixed-length-bit-map','length':16,'byte-order':'ORDER',
          'flags':{'x':[[0,3]]}}}]}}
      {'type':'event-record-class','data-stream-class-id':9,'id':1,'name':'bare'}
      """;

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyKindOfField(boolean bigEndian) throws IOException {
    String order = bigEndian ? "big-endian" : "little-endian";
    String[] fragments =
        (PREAMBLE + "\n" + HEADER_AND_CONTEXT.replace("ORDER", order)).split("\n(?=\\{)", -1);
    Files.write(folder.resolve("metadata"), bytes(fragments));
    int bits = 0;
    BitWriter packet = new BitWriter(bigEndian);
    for (int pass = 0; pass < 2; pass++) { // the first one to know the size
      packet = new BitWriter(bigEndian).u(32, 0xc1fc1fc1).u(32, 1).u(16, 9);
      packet.u(64, 100).u(32, bits).u(32, 5).u(32, 3);
      packet.u(5, 31).align(8).u(32, 4000).u(64, 200).u(32, 2).align(32);
      packet.u(8, 4).u(32, 77).u(8, -2).u(8, 'a').u(8, 'b').u(8, 0).u(8, 'c').u(8, 2).align(32);
      packet.u(8, 1).u(8, 'x').u(8, 0xee).u(8, 0xef).u(8, 'y');
      packet.u(8, 3).u(8, 'p').u(8, 'q').u(8, 'r').u(8, 1).u(8, 2).u(8, 's').u(8, 't').u(8, 'u');
      packet.text("one").text("two").u(32, 4242).u(16, 0xbeef);
      packet.align(8).u(5, 1).u(27, 250).u(32, 0);
      packet.align(8).u(5, 31).align(8).u(32, 4000).u(64, 300).u(32, 0).align(32);
      packet.u(8, 0).u(8, 5).u(32, 0).u(8, 0).align(32).u(8, 0).u(8, 0).text("s").u(16, 1);
      bits = packet.bits();
    }
    Files.write(folder.resolve("stream"), packet.bytes());
    List<Event> events = TraceReaderTest.readAll(folder);
    assertThat(events).extracting(Event::name).containsExactly("deep", "bare", "deep");
    assertThat(events).extracting(Event::ticks).containsExactly(200L, 250L, 300L);
    assertThat(events.getFirst().timeNanos()).isEqualTo(1_000_700_000_000L);
    assertThat(events.getFirst().cpu()).isEqualTo(3);
    StringBuilder first = new StringBuilder();
    TraceText.append(first, events.getFirst().fields());
    assertThat(first)
        .hasToString(
            "{ flag = ( \"true\" : container = 4 ), maybe = { 77 },"
                + " k = ( \"neg\" : container = -2 ), fixed = \"ab\", n = 2,"
                + " list = [ [0] = { n = 1, own = \"x\", outer = [ [0] = 0xEE, [1] = 0xEF ],"
                + " same = \"y\" }, [1] = { n = 3, own = \"pqr\", outer = [ [0] = 0x1, [1] = 0x2 ],"
                + " same = \"stu\" } ], by context = [ [0] = \"one\", [1] = \"two\" ],"
                + " choice = { 4242 }, bits = 0xBEEF }");
    StringBuilder last = new StringBuilder();
    TraceText.append(last, events.getLast().fields());
    assertThat(last)
        .asString()
        .startsWith("{ flag = ( \"false\" : container = 0 ), maybe = { { } }, k = ( \"pos\"")
        .endsWith("choice = { \"s\" }, bits = 0x1 }");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'name':'x','field-class':{'type':'structure','member-classes':[{'name':'y','field-class':ROLE}]}}",
        "{'name':'x','field-class':{'type':'static-length-array','length':1,'element-field-class':"
            + "{'type':'structure','member-classes':[{'name':'y','field-class':ROLE}]}}}"
      })
  void rolesThatWouldBeMissedAreRefused(String member) {
    String role =
        "{'type':'fixed-length-unsigned-integer','length':8,'byte-order':'little-endian',"
            + "'roles':['data-stream-class-id']}";
    String trace =
        "{'type':'trace-class','packet-header-field-class':{'type':'structure','member-classes':["
            + member.replace("ROLE", role)
            + "]}}";
    assertThatThrownBy(() -> parse(PREAMBLE, trace, STREAM)).hasMessageContaining("so deep");
  }

  @Test
  void timesNeedAClock() {
    String stream =
        "{'type':'data-stream-class','event-record-header-field-class':{'type':'structure',"
            + "'member-classes':[{'name':'t','field-class':{'type':'fixed-length-unsigned-integer',"
            + "'length':8,'byte-order':'little-endian','roles':['default-clock-timestamp']}}]}}";
    assertThatThrownBy(() -> parse(PREAMBLE, stream)).hasMessageContaining("without a clock");
  }
}
