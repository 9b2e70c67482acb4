/// How often SQL has called the functions and collations of one connection since it was opened.
final class CallbackCounts {
  // The connection's thread alone reads and writes them.
  @exclusivity(unchecked) var functions = 0
  @exclusivity(unchecked) var collations = 0
}
