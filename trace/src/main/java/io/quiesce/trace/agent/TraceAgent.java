package io.quiesce.trace.agent;

import org.jspecify.annotations.Nullable;

/**
 * What the JVM calls before {@code main}, or when the agent is loaded into a program that runs.
 *
 * <p>Whatever goes wrong is one sentence on standard error. The program then runs on without a
 * trace, or ends with status 1 before {@code main} if the option {@code on-failure=exit} says so.
 *
 * <p>The agent's classes come from the class path of the system's loader. If the program has
 * Quiesce on its own class path or module path, that copy is found first and used: there is one
 * tracer, which sees both. A copy in another loader, as in a web container, is another tracer.
 *
 * <p>This class refers to nothing but this package, so that it can say when a jar is missing.
 */
public final class TraceAgent {
  private TraceAgent() {}

  /**
   * Before {@code main}.
   *
   * @param options what stands behind the equals sign of {@code -javaagent}; see the package
   */
  public static void premain(@Nullable String options) {
    if (!begin(options) && wantsExit(options)) {
      System.exit(1);
    }
  }

  /**
   * In a program that runs, as {@code jcmd PID JVMTI.agent_load} does it. Never ends the program.
   *
   * @param options as for {@link #premain}
   */
  public static void agentmain(@Nullable String options) {
    begin(options);
  }

  @SuppressWarnings("CatchingUnchecked") // The program must not see the agent's troubles.
  private static boolean begin(@Nullable String options) {
    try {
      AgentSession.begin(AgentOptions.parse(options));
      return true;
    } catch (AgentException e) {
      say(String.valueOf(e.getMessage()));
    } catch (LinkageError e) {
      say(
          "Tracing could not begin ("
              + e
              + "); put quiesce-core and quiesce-trace of one version side by side, also where the"
              + " program has its own");
    } catch (RuntimeException | Error e) {
      say("Tracing could not begin (" + e + ")");
    }
    return false;
  }

  @SuppressWarnings("CatchingUnchecked") // The reason was said already.
  private static boolean wantsExit(@Nullable String options) {
    try {
      return AgentOptions.isExitOnFailure(options);
    } catch (AgentException | RuntimeException | Error _) {
      return true; // not even readable: nobody wrote that he can do without a trace
    }
  }

  @SuppressWarnings("SystemOut") // The one place that a program's user sees.
  static void say(String sentence) {
    System.err.println("quiesce: " + sentence + (sentence.endsWith(".") ? "" : "."));
  }
}
