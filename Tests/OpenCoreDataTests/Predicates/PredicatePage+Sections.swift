@testable import ManagedModel

extension PredicatePage {
  struct Section {
    let title: String
    var words = ""
    let rows: [Row]
  }

  static let sections = [
    Section(
      title: "Comparisons",
      rows: [
        Row("equal", "age == 3", "age = 3"), Row("not equal", "age != 3", "age <> 3"),
        Row("less", "age < 3"), Row("at most", "age <= 3", "age =< 3"),
        Row("greater", "age > 3"), Row("at least", "age >= 3", "age => 3"),
        Row("within bounds", "age BETWEEN {3, 5}", "age between {3,5}"),
        Row("one of a list", "age IN {3, 5}"),
        Row("none of a list", "NOT age IN {3, 5}", "age NOT IN {3, 5}", "!(age IN {3, 5})"),
        Row("a text in a text", "'nn' IN name"),
        Row("a text holds a text", "name CONTAINS 'nn'"),
        Row("a collection holds an element", "{3, 5} CONTAINS age"),
        Row("begins with", "name BEGINSWITH 'A'"), Row("ends with", "name ENDSWITH 'a'"),
        Row("`?` one character, `*` any number", "name LIKE 'A?n*'"),
        Row("a regular expression, of the whole text", "name MATCHES 'A[nN]+a?'"),
        Row("a uniform type identifier", "name UTI-CONFORMS-TO 'public.text'"),
        Row("the same identifier", "name UTI-EQUALS 'public.text'"),
        Row("a method of the left side", "name isEqualToString: 'Ann'"),
        Row("a truth value", "hidden == YES", "hidden", "hidden == TRUE", "hidden == 1"),
      ]),
    Section(
      title: "Options",
      words: "They follow the operator in brackets, in any order and with any space before them.",
      rows: [
        Row("upper and lower case are the same", "name ==[c] 'ann'"),
        Row("accents are ignored", "name BEGINSWITH[d] 'A'"),
        Row("both", "name CONTAINS[cd] 'a'", "name CONTAINS [dc] 'a'"),
        Row("the text is normalised already", "name ENDSWITH[n] 'a'"),
        Row("as the locale compares", "name <[l] 'b'"),
        Row("as a whole word", "name MATCHES[w] 'a.*'"),
      ]),
    Section(
      title: "Compounds and quantifiers",
      rows: [
        Row("both", "age > 3 AND age < 5", "age > 3 && age < 5"),
        Row("either", "age < 3 OR age > 5", "age < 3 || age > 5"),
        Row("not", "NOT age == 3", "! age == 3"),
        Row("always", "TRUEPREDICATE"), Row("never", "FALSEPREDICATE"),
        Row("one at least", "ANY friends.age > 3", "SOME friends.age > 3"),
        Row("all of them", "ALL friends.age > 3"),
        Row("none of them", "NOT ANY friends.age > 3", "NONE friends.age > 3"),
        Row("those that match", "SUBQUERY(friends, $f, $f.age > 3).@count > 1"),
      ]),
    Section(
      title: "Key paths",
      rows: [
        Row("a key", "age == 3", "SELF.age == 3", "#age == 3"),
        Row("over relationships", "town.name == 'Ayr'"),
        Row("a key that is a word of the language", "#in == 3"),
        Row("the object itself", "SELF != nil"),
        Row("any key of a dictionary", "ANYKEY == 3"),
        Row("a variable", "age == $x"),
        Row("a variable's key", "SUBQUERY(friends, $x, $x.age == 3).@count > 0"),
        Row("a variable that is given a value", "$x := age + 1 > 3 AND $x < 5"),
        Row("how many", "friends.@count > 1"), Row("how many", "friends[SIZE] > 1"),
        Row("the first, the last, by number", "friends[FIRST] == friends[LAST]"),
        Row("by an index", "friends[0] == 3"),
      ]
        + CollectionOperator.allCases.filter { $0 != .count }.map {
          switch $0 {
          case .sum, .min, .max, .average, .count: Row("of all", "friends.\($0.rawValue).age > 3")
          default: Row("of all, as one list", "friends.\($0.rawValue).age == 3")
          }
        }),
    Section(
      title: "Arithmetic",
      words: "In falling order of precedence; `**` groups to the right, the others to the left.",
      rows: [
        Row("negative", "0 - age == 3", "-age == 3"), Row("bits turned over", "~age == 3"),
        Row("power", "age ** 2 == 9"), Row("product", "age * 2 == 6"),
        Row("quotient", "age / 2 == 1"), Row("remainder", "age %% 2 == 1"),
        Row("sum", "age + 1 == 4"), Row("difference", "age - 1 == 2"),
        Row("shifts", "age << 1 == 6"), Row("shifts", "age >> 1 == 1"),
        Row("bits", "age & 1 == 1"), Row("bits", "age ^ 1 == 2"), Row("bits", "age | 1 == 3"),
        Row("collections", "{1} UNION {2} == {1, 2}"),
        Row("collections", "{1} INTERSECT {2} == {}"), Row("collections", "{1} MINUS {2} == {1}"),
      ]),
    Section(
      title: "Functions",
      words: "By Apple's names. A name may have its `:` before the parenthesis or not.",
      rows: PredicateFunction.allCases.filter { $0.infix == nil && $0 != .cast }.map(Self.row)
        + [
          Row("one of two values", "TERNARY(age > 3, 1, 2) == 1"),
          Row("a method of a value", "FUNCTION(name, 'substringFromIndex:', 2) == 'n'"),
          Row("the result of a fetch", "SELF IN FETCH(%@, %@, NO)"),
          Row("the number of a fetch's matches", "age == FETCH(%@, %@, YES)"),
        ]),
    Section(
      title: "Casts",
      words: "Of a constant, a cast is a constant of that type, and its way to be printed.",
      rows: [
        Row("seconds since 2001", "born > CAST(3.5, 'NSDate')"),
        Row("number", "CAST(born, 'NSNumber') > 3"), Row("text", "CAST(age, 'NSString') == '3'"),
        Row("decimal", "price == CAST('3.30', 'NSDecimalNumber')"),
        Row("Base64", "photo == CAST('AP8=', 'NSData')"),
        Row("UUID", "key == CAST('0A0A0A0A-0000-0000-0000-000000000000', 'NSUUID')"),
        Row("URL", "site == CAST('https://example.org', 'NSURL')"),
      ]),
    Section(
      title: "Literals",
      rows: [
        Row("integers", "age == 31", "age == 0x1F", "age == 0o37", "age == 0b11111"),
        Row("numbers", "height == 0.5", "height == .5", "height == 5e-1"),
        Row("texts", "name == \"it's\"", "name == 'it\\'s'", "name == \"it\\u0027s\""),
        Row("truth", "hidden == 1", "hidden == YES", "hidden == true"),
        Row("falsehood", "hidden == 0", "hidden == NO", "hidden == false"),
        Row("nil", "name == nil", "name == NULL", "name == NIL"),
        Row("a list", "age IN {3, 5}", "age IN {3,5}"), Row("an empty list", "age IN {}"),
      ]),
    Section(
      title: "Placeholders",
      words: "Without arguments they stay and print as they are written.",
      rows: [
        Row("an object, a predicate, an expression", "age == %@"), Row("a key path", "%K == 3"),
        Row("integers", "age == %d"), Row("integers", "age == %i"),
        Row("integers", "age == %ld"), Row("integers", "age == %lld"),
        Row("integers", "age == %u"), Row("integers", "age == %lu"),
        Row("integers", "age == %llu"), Row("numbers", "height == %f"),
        Row("numbers", "height == %la"), Row("a character", "name == %c"),
        Row("the sign of the remainder", "age %% 2 == 1"),
      ]),
  ]

  private static func row(_ function: PredicateFunction) -> Row {
    let name = function.formatName
    switch function {
    case _ where function.isAggregate: return Row("of a list", "\(name)({age, 3}) > 1")
    case .now: return Row("the present", "born < now()")
    case .random: return Row("from 0 to 2147483647", "random() < 1000")
    case .uppercase, .lowercase, .canonical:
      return Row("a text", "\(name)(name) == 'x'", "\(function.rawValue)(name) == 'x'")
    case .length: return Row("of a text", "length(name) > 1", "length:(name) > 1")
    case .distance:
      return Row("metres on the ground", "\(function.rawValue)({52, 13}, {48, 2}) < 1000000")
    case .noIndex: return Row("its argument; no index is used", "noindex(age) == 3")
    default:
      let arguments = Array(repeating: "age", count: function.arity).joined(separator: ", ")
      return Row("of numbers", "\(function.rawValue)(\(arguments)) > 1")
    }
  }
}
