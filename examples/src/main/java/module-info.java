/** Small programs, one per use of Quiesce. */
module io.quiesce.examples {
  requires io.quiesce;
  requires static org.jspecify;
}
