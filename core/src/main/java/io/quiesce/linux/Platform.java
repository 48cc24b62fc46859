package io.quiesce.linux;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Which fast paths this JVM has, found out once and then constant, so that the JIT compiler removes
 * the branch that asks.
 *
 * <p>System properties, read once: {@code quiesce.native=auto|off|require}, {@code
 * quiesce.linux=auto|off}, {@code quiesce.membarrier=auto|off}, {@code quiesce.rseq=auto|off}.
 * Under {@code auto} native calls are used unless the JVM refuses them; then everything works
 * without them and one line names the flag. Under {@code off} they are never tried, so the JVM
 * never warns. Under {@code require} a refusal throws {@link IllegalStateException} at first use:
 * from any {@code boolean} method here. No class initialiser of this package fails for it.
 *
 * <p>All methods are safe from any thread and never block for more than the first probe (the
 * registration with the membarrier system call takes up to some 16 ms, once). Source: system
 * properties, the C library's {@code __rseq_*} symbols, and the kernel's own answers.
 */
@SuppressWarnings("restricted") // The compiler flags every use of the linker.
public final class Platform {
  private Platform() {}

  /** What is known before any native call; every other probe hangs off this. */
  static final class Start {
    private static final String ARCH = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);

    static final boolean X64 = ARCH.equals("amd64") || ARCH.equals("x86_64");
    static final boolean ARM64 = ARCH.equals("aarch64");
    static final boolean LINUX_SWITCHED_OFF = Settings.off("quiesce.linux");
    static final boolean ON_LINUX = System.getProperty("os.name", "").equals("Linux");
    static final boolean LINUX = ON_LINUX && !LINUX_SWITCHED_OFF;
    static final Facility NATIVE;

    /** The sentence for {@code quiesce.native=require} when it cannot be had, else empty. */
    static final String FAILURE;

    static {
      Settings.NativeMode mode = Settings.nativeMode();
      NATIVE = mode == Settings.NativeMode.OFF ? switchedOff() : probeNative();
      FAILURE =
          mode == Settings.NativeMode.REQUIRE && !NATIVE.on()
              ? "-Dquiesce.native=require cannot be met: " + NATIVE.reason()
              : "";
      if (mode == Settings.NativeMode.AUTO && !NATIVE.on()) {
        Settings.LOG.log(System.Logger.Level.WARNING, NATIVE.reason());
      }
    }

    private static Facility switchedOff() {
      return Facility.off(
          "native access is switched off by -Dquiesce.native=off; remove the property or set auto");
    }

    private static Facility probeNative() {
      try {
        // A restricted method: the JVM decides here, and under its default warns here, once.
        MemorySegment probe = MemorySegment.NULL.reinterpret(1);
        Linker linker = Linker.nativeLinker();
        return Facility.on(
            "granted; " + linker.getClass().getSimpleName() + ", " + probe.byteSize());
      } catch (IllegalCallerException e) {
        return Facility.off(
            "the JVM refuses native access, so the portable fallbacks are used; start it with "
                + flag());
      } catch (UnsupportedOperationException | LinkageError e) {
        return Facility.off(
            "this JVM has no foreign-function linker ("
                + e
                + "), so the portable fallbacks are used");
      }
    }

    private Start() {}
  }

  /** The flag that grants native access to this library, for the way it was loaded. */
  static String flag() {
    Module module = Platform.class.getModule();
    return "--enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
  }

  /**
   * Throws if {@code quiesce.native=require} cannot be met; does nothing otherwise.
   *
   * <p>The {@code boolean} methods do the same. Call this first from a constructor or factory,
   * where an exception reaches the user, when the answers are kept in static fields.
   *
   * @throws IllegalStateException with the sentence that names the flag
   */
  public static void verify() {
    if (!Start.FAILURE.isEmpty()) {
      throw new IllegalStateException(Start.FAILURE);
    }
  }

  /**
   * Whether native calls and raw addresses may be used.
   *
   * @return true when the JVM granted it and no property forbids it
   * @throws IllegalStateException if {@code quiesce.native=require} cannot be met
   */
  public static boolean nativeAccess() {
    verify();
    return Start.NATIVE.on();
  }

  /**
   * Whether this is Linux, and {@code quiesce.linux} is not off.
   *
   * @return true on Linux
   * @throws IllegalStateException if {@code quiesce.native=require} cannot be met
   */
  public static boolean linux() {
    verify();
    return Start.LINUX;
  }

  /**
   * Whether the CPU is x86-64, the only one there is machine code for.
   *
   * @return true on x86-64
   * @throws IllegalStateException if {@code quiesce.native=require} cannot be met
   */
  public static boolean x64() {
    verify();
    return Start.X64;
  }

  /**
   * Whether {@link Membarrier#fence()} works: the process is registered for the private expedited
   * command and one call succeeded. The first call registers.
   *
   * @return true when it does
   * @throws IllegalStateException if {@code quiesce.native=require} cannot be met
   */
  public static boolean membarrier() {
    verify();
    return Membarrier.Private.FACILITY.on();
  }

  /**
   * Whether restartable sequences work: the C library registers every thread, and the page of
   * machine code is in place.
   *
   * @return true when they do
   * @throws IllegalStateException if {@code quiesce.native=require} cannot be met
   */
  public static boolean rseq() {
    verify();
    return NativeCode.RSEQ.on();
  }

  /**
   * Whether {@link Futex} works.
   *
   * @return true when it does
   * @throws IllegalStateException if {@code quiesce.native=require} cannot be met
   */
  public static boolean futex() {
    verify();
    return Futex.Probe.FACILITY.on();
  }

  /**
   * Why a facility is on or off; when off, with the cure. Never throws for {@code require}.
   *
   * @param facility one of {@code native}, {@code linux}, {@code x64}, {@code membarrier}, {@code
   *     membarrier-rseq}, {@code code}, {@code rseq}, {@code futex}, {@code tsc}
   * @return one sentence
   * @throws IllegalArgumentException for another name
   */
  public static String reason(String facility) {
    return facility(facility).reason();
  }

  /**
   * Everything {@link #reason} knows, in a fixed order. Never throws for {@code require}.
   *
   * @return facility name to {@code "on: ..."} or {@code "off: ..."}; a copy that the caller owns
   */
  public static Map<String, String> report() {
    Map<String, String> report = new LinkedHashMap<>();
    for (String name : NAMES) {
      Facility facility = facility(name);
      report.put(name, (facility.on() ? "on: " : "off: ") + facility.reason());
    }
    return report;
  }

  private static final String[] NAMES = {
    "native", "linux", "x64", "membarrier", "membarrier-rseq", "code", "rseq", "futex", "tsc"
  };

  private static Facility facility(String name) {
    return switch (name) {
      case "native" -> Start.NATIVE;
      case "linux" -> linuxFacility();
      case "x64" ->
          Start.X64
              ? Facility.on("the CPU is x86-64")
              : Facility.off(
                  "machine code exists for x86-64 only; the portable fallbacks are used");
      case "membarrier" -> Membarrier.Private.FACILITY;
      case "membarrier-rseq" -> Membarrier.RseqFence.FACILITY;
      case "code" -> NativeCode.PAGE_FACILITY;
      case "rseq" -> NativeCode.RSEQ;
      case "futex" -> Futex.Probe.FACILITY;
      case "tsc" -> Tsc.FACILITY;
      default ->
          throw new IllegalArgumentException(
              "no facility is called '" + name + "'; use one of " + String.join(", ", NAMES));
    };
  }

  private static Facility linuxFacility() {
    if (Start.LINUX) {
      return Facility.on("kernel " + System.getProperty("os.version"));
    }
    return Facility.off(
        Start.ON_LINUX
            ? "switched off by -Dquiesce.linux=off; remove the property or set auto"
            : "this is not Linux; the portable fallbacks are used");
  }

  /** The first of the conditions that every kernel call shares which does not hold, or "on". */
  static Facility kernelCalls() {
    if (!Start.NATIVE.on()) {
      return Start.NATIVE;
    }
    Facility linux = linuxFacility();
    if (!linux.on()) {
      return linux;
    }
    if (!Start.X64 && !Start.ARM64) {
      return Facility.off(
          "system call numbers are known for x86-64 and arm64 only; the fallbacks are used");
    }
    return linux;
  }
}
