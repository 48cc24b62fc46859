package io.quiesce.linux;
final class Tmp { private Tmp() {} }
