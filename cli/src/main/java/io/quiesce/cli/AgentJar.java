package io.quiesce.cli;

import io.quiesce.trace.TraceSession;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;

/** Where the agent is: the jar of the module trace, with that of core beside it. */
final class AgentJar {
  /** Names another one; for tests, which run from folders of classes. */
  static final String PROPERTY = "quiesce.trace.agent";

  private AgentJar() {}

  static Path find() throws Failure {
    String named = System.getProperty(PROPERTY);
    Path jar = named == null ? ownJar() : Path.of(named);
    if (!Files.isRegularFile(jar)) {
      throw new Failure("The agent " + jar + " is no jar; run ./quiesce, which builds it");
    }
    return jar.toAbsolutePath();
  }

  private static Path ownJar() throws Failure {
    CodeSource source = TraceSession.class.getProtectionDomain().getCodeSource();
    try {
      if (source != null) {
        return Path.of(source.getLocation().toURI());
      }
      throw new Failure("The agent's jar cannot be found; name it by -D" + PROPERTY + "=JAR");
    } catch (URISyntaxException e) {
      throw new Failure("The agent's jar has a strange place: " + source.getLocation(), e);
    }
  }
}
