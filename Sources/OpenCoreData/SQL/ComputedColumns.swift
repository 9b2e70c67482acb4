/// The computed columns of a dictionary fetch, which conditions on groups and orders may name.
struct ComputedColumns {
  /// Their types, by name.
  var types: [String: StoredType] = [:]

  /// `__var0`, `__var1` …: the aliases handed out, by name, in the order in which they were needed.
  private(set) var aliases: [String: String] = [:]

  /// The alias of a column, nil for a name that none has.
  mutating func alias(of name: String) -> String? {
    guard types[name] != nil else { return nil }
    if let alias = aliases[name] { return alias }
    let alias = "__var\(aliases.count)"
    aliases[name] = alias
    return alias
  }
}
