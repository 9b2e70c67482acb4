/// Hands out `t1`, `t2` … for one statement.
///
/// `t0` is the table of the entity asked for.
final class AliasCounter {
  private var count = 0

  func next() -> String {
    count += 1
    return "t\(count)"
  }
}
