package io.quiesce.trace;

import io.quiesce.trace.ctf.Field;
import io.quiesce.trace.point.FieldKind;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an interface says about its tracepoints, checked.
 *
 * @param provider what comes before the colon
 * @param events its tracepoints
 * @param questions its methods that ask whether one is on
 */
record ProviderShape(String provider, List<Event> events, List<Question> questions) {
  /** A method handle takes so many words at most: 255, less itself, the tracepoint and a target. */
  static final int MOST_SLOTS = 250;

  private static final int MOST_LENGTH = 0xffff;

  /** A tracepoint; lengths: for each field that of its arrays if it is always the same, or 0. */
  record Event(
      Method method,
      String name,
      int level,
      List<FieldKind> kinds,
      List<Integer> lengths,
      List<Field> fields) {}

  /** Whether a tracepoint is on. */
  record Question(Method method, String event) {}

  static ProviderShape of(Class<?> type) {
    TracepointProvider provider = type.getAnnotation(TracepointProvider.class);
    checkType(type, provider);
    List<Event> events = new ArrayList<>();
    List<Question> questions = new ArrayList<>();
    Set<String> methods = new HashSet<>();
    Set<String> names = new HashSet<>();
    for (Method method : methods(type)) {
      checkMethod(type, method);
      if (!methods.add(method.getName())) {
        throw wrong(type, method, "is overloaded; give each tracepoint a method name of its own");
      }
      TracepointEnabled enabled = method.getAnnotation(TracepointEnabled.class);
      if (enabled != null) {
        questions.add(question(type, method, enabled.value()));
        continue;
      }
      Event event = event(type, method);
      if (!names.add(event.name)) {
        throw wrong(type, method, "has the name of another tracepoint, " + event.name);
      }
      events.add(event);
    }
    for (Question question : questions) {
      if (!names.contains(question.event)) {
        throw wrong(
            type,
            question.method,
            "asks for the tracepoint " + question.event + ", which the interface does not have");
      }
    }
    String name =
        provider == null || provider.value().isEmpty()
            ? type.getSimpleName().toLowerCase(Locale.ROOT)
            : provider.value();
    return new ProviderShape(name, List.copyOf(events), List.copyOf(questions));
  }

  private static void checkType(Class<?> type, @Nullable TracepointProvider provider) {
    String cause = null;
    if (!type.isInterface() || type.isAnnotation()) {
      cause = "it is no interface";
    } else if (provider == null) {
      cause = "it is not annotated with @TracepointProvider";
    } else if (type.isSealed()) {
      cause = "it is sealed, so nothing can implement it";
    } else if (type.isHidden()) {
      cause = "it is a hidden class, which has no name to implement it by";
    }
    if (cause != null) {
      throw new IllegalArgumentException(
          type.getName() + " cannot be a provider of tracepoints: " + cause);
    }
  }

  /** Those that a class which implements the interface must have, in a fixed order. */
  private static List<Method> methods(Class<?> type) {
    List<Method> methods = new ArrayList<>();
    for (Method method : type.getMethods()) {
      boolean marked =
          method.isAnnotationPresent(Tracepoint.class)
              || method.isAnnotationPresent(TracepointEnabled.class);
      if (Modifier.isAbstract(method.getModifiers()) ? !isOfObject(method) : marked) {
        methods.add(method);
      }
    }
    methods.sort(Comparator.comparing(Method::getName).thenComparing(Method::toGenericString));
    return methods;
  }

  /** Such as a comparator's equals. */
  private static boolean isOfObject(Method method) {
    try {
      Method _ = Object.class.getMethod(method.getName(), method.getParameterTypes());
      return true;
    } catch (NoSuchMethodException _) {
      return false;
    }
  }

  private static void checkMethod(Class<?> type, Method method) {
    boolean event = method.isAnnotationPresent(Tracepoint.class);
    boolean question = method.isAnnotationPresent(TracepointEnabled.class);
    if (!Modifier.isAbstract(method.getModifiers())) {
      throw wrong(type, method, "has a body; a tracepoint has none");
    }
    if (event == question) {
      throw wrong(
          type,
          method,
          event
              ? "is both @Tracepoint and @TracepointEnabled; it can be one of them"
              : "is neither @Tracepoint nor @TracepointEnabled; annotate it, or give it a body");
    }
    if (method.getTypeParameters().length > 0) {
      throw wrong(type, method, "is generic; a tracepoint has no type parameters");
    }
  }

  private static Question question(Class<?> type, Method method, String event) {
    if (method.getReturnType() != boolean.class || method.getParameterCount() != 0) {
      throw wrong(type, method, "is @TracepointEnabled; it must take nothing and return boolean");
    }
    return new Question(method, event);
  }

  private static Event event(Class<?> type, Method method) {
    if (method.getReturnType() != void.class) {
      throw wrong(
          type,
          method,
          "returns " + method.getReturnType().getTypeName() + "; a tracepoint returns void");
    }
    List<FieldKind> kinds = new ArrayList<>();
    List<Integer> lengths = new ArrayList<>();
    List<Field> fields = new ArrayList<>();
    Set<String> names = new HashSet<>();
    int slots = 0;
    Parameter[] parameters = method.getParameters();
    for (int i = 0; i < parameters.length; i++) {
      Parameter parameter = parameters[i];
      Class<?> held = parameter.getType();
      TracepointField field = parameter.getAnnotation(TracepointField.class);
      String name =
          field != null && !field.name().isEmpty()
              ? field.name()
              : parameter.isNamePresent() ? parameter.getName() : "arg" + i;
      FieldKind kind = FieldKind.of(held);
      if (kind == null) {
        throw wrong(
            type,
            method,
            "has the parameter "
                + name
                + " of type "
                + held.getTypeName()
                + "; allowed are primitive types, String, enums with constants, and arrays of"
                + " primitive types");
      }
      boolean hex = field != null && field.hex();
      if (hex && !kind.isInteger()) {
        throw wrong(
            type,
            method,
            "has hex = true on its parameter "
                + name
                + " of type "
                + held.getTypeName()
                + "; allowed are byte, short, char, int, long and arrays of them");
      }
      if (!names.add(name)) {
        throw wrong(type, method, "has two fields with the name " + name);
      }
      int length = field == null ? 0 : field.length();
      if (length < 0 || length > MOST_LENGTH || (length > 0 && !held.isArray())) {
        throw wrong(
            type,
            method,
            "has length = "
                + length
                + " on its parameter "
                + name
                + " of type "
                + held.getTypeName()
                + "; allowed are 1 to "
                + MOST_LENGTH
                + ", on arrays");
      }
      kinds.add(kind);
      lengths.add(length);
      fields.add(new Field(name, kind.type(held, hex, length)));
      slots += kind.slots();
    }
    if (slots > MOST_SLOTS) {
      throw wrong(
          type,
          method,
          "has parameters of "
              + slots
              + " words, where long and double count twice; "
              + MOST_SLOTS
              + " is the most");
    }
    Tracepoint tracepoint = method.getAnnotation(Tracepoint.class);
    String name = tracepoint.name().isEmpty() ? method.getName() : tracepoint.name();
    return new Event(method, name, tracepoint.level().number(), kinds, lengths, fields);
  }

  private static IllegalArgumentException wrong(Class<?> type, Method method, String cause) {
    String types =
        String.join(
            ", ",
            Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).limit(8).toList());
    return new IllegalArgumentException(
        "The method " + method.getName() + "(" + types + ") of " + type.getName() + " " + cause);
  }
}
