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
        Row("in a range", "age BETWEEN {3, 5}", "age between {3,5}"),
        Row("in a list", "age IN {3, 5}"),
        Row("not in a list", "NOT age IN {3, 5}", "age NOT IN {3, 5}", "!(age IN {3, 5})"),
        Row("is a substring of", "'nn' IN name"),
        Row("contains a string", "name CONTAINS 'nn'"),
        Row("contains an element", "{3, 5} CONTAINS age"),
        Row("begins with", "name BEGINSWITH 'A'"), Row("ends with", "name ENDSWITH 'a'"),
        Row("matches a pattern: `?` is one character, `*` any number", "name LIKE 'A?n*'"),
        Row("matches a regular expression completely", "name MATCHES 'A[nN]+a?'"),
        Row("conforms to a uniform type identifier", "name UTI-CONFORMS-TO 'public.text'"),
        Row("equals a uniform type identifier", "name UTI-EQUALS 'public.text'"),
        Row("a method of the left side", "name isEqualToString: 'Ann'"),
        Row("a Boolean", "hidden == YES", "hidden", "hidden == TRUE", "hidden == 1"),
      ]),
    Section(
      title: "Options",
      words:
        "Options follow the operator in brackets, in any order. Spaces before them are allowed.",
      rows: [
        Row("case-insensitive", "name ==[c] 'ann'"),
        Row("diacritic-insensitive", "name BEGINSWITH[d] 'A'"),
        Row("both", "name CONTAINS[cd] 'a'", "name CONTAINS [dc] 'a'"),
        Row("already normalized", "name ENDSWITH[n] 'a'"),
        Row("locale-sensitive", "name <[l] 'b'"),
        Row("whole words", "name MATCHES[w] 'a.*'"),
      ]),
    Section(
      title: "Compounds and quantifiers",
      rows: [
        Row("and", "age > 3 AND age < 5", "age > 3 && age < 5"),
        Row("or", "age < 3 OR age > 5", "age < 3 || age > 5"),
        Row("not", "NOT age == 3", "! age == 3"),
        Row("always true", "TRUEPREDICATE"), Row("always false", "FALSEPREDICATE"),
        Row("at least one", "ANY friends.age > 3", "SOME friends.age > 3"),
        Row("all of them", "ALL friends.age > 3"),
        Row("none of them", "NOT ANY friends.age > 3", "NONE friends.age > 3"),
        Row("the number of those that match", "SUBQUERY(friends, $f, $f.age > 3).@count > 1"),
      ]),
    Section(
      title: "Key paths",
      rows: [
        Row("a key", "age == 3", "SELF.age == 3", "#age == 3"),
        Row("a key path across relationships", "town.name == 'Ayr'"),
        Row("a key that is a reserved word", "#in == 3"),
        Row("the object itself", "SELF != nil"),
        Row("any key of a dictionary", "ANYKEY == 3"),
        Row("a variable", "age == $x"),
        Row("a variable's key", "SUBQUERY(friends, $x, $x.age == 3).@count > 0"),
        Row("an assignment to a variable", "$x := age + 1 > 3 AND $x < 5"),
        Row("the number of elements", "friends.@count > 1"),
        Row("the number of elements", "friends[SIZE] > 1"),
        Row("the first and the last element", "friends[FIRST] == friends[LAST]"),
        Row("by an index", "friends[0] == 3"),
      ]
        + CollectionOperator.allCases.filter { $0 != .count }.map {
          switch $0 {
          case .sum, .min, .max, .average, .count:
            Row("of all elements", "friends.\($0.rawValue).age > 3")
          default: Row("of all elements, as one list", "friends.\($0.rawValue).age == 3")
          }
        }),
    Section(
      title: "Arithmetic",
      words:
        "In descending order of precedence. `**` is right-associative; all others are left-associative.",
      rows: [
        Row("negation", "0 - age == 3", "-age == 3"), Row("bitwise NOT", "~age == 3"),
        Row("power", "age ** 2 == 9"), Row("product", "age * 2 == 6"),
        Row("quotient", "age / 2 == 1"), Row("remainder", "age %% 2 == 1"),
        Row("sum", "age + 1 == 4"), Row("difference", "age - 1 == 2"),
        Row("left shift", "age << 1 == 6"), Row("right shift", "age >> 1 == 1"),
        Row("bitwise AND", "age & 1 == 1"), Row("bitwise XOR", "age ^ 1 == 2"),
        Row("bitwise OR", "age | 1 == 3"),
        Row("union", "{1} UNION {2} == {1, 2}"),
        Row("intersection", "{1} INTERSECT {2} == {}"),
        Row("difference of collections", "{1} MINUS {2} == {1}"),
      ]),
    Section(
      title: "Functions",
      words: "Functions have Apple's names. The `:` before the parenthesis is optional.",
      rows: PredicateFunction.allCases.filter { $0.infix == nil && $0 != .cast }.map(Self.row)
        + [
          Row("one of two values", "TERNARY(age > 3, 1, 2) == 1"),
          Row("a method of a value", "FUNCTION(name, 'substringFromIndex:', 2) == 'n'"),
          Row("the result of a fetch", "SELF IN FETCH(%@, %@, NO)"),
          Row("the number of a fetch's matches", "age == FETCH(%@, %@, YES)"),
        ]),
    Section(
      title: "Casts",
      words:
        "A cast of a constant is a constant of that type, which is printed as a cast, or, if it's a "
        + "decimal, as a number.",
      rows: [
        Row("seconds since 2001", "born > CAST(3.5, 'NSDate')"),
        Row("number", "CAST(born, 'NSNumber') > 3"), Row("string", "CAST(age, 'NSString') == '3'"),
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
        Row("strings", "name == \"it's\"", "name == 'it\\'s'", "name == \"it\\u0027s\""),
        Row("UTF-16 units", "name == \"😀\"", "name == '\\uD83D\\uDE00'"),
        Row("true", "hidden == 1", "hidden == YES", "hidden == true"),
        Row("false", "hidden == 0", "hidden == NO", "hidden == false"),
        Row("nil", "name == nil", "name == NULL", "name == NIL"),
        Row("a list", "age IN {3, 5}", "age IN {3,5}"), Row("an empty list", "age IN {}"),
      ]),
    Section(
      title: "Placeholders",
      words: "Without arguments, placeholders remain and are printed unchanged.",
      rows: [
        Row("an object, a predicate, an expression", "age == %@"), Row("a key path", "%K == 3"),
        Row("integers", "age == %d"), Row("integers", "age == %i"),
        Row("integers", "age == %ld"), Row("integers", "age == %lld"),
        Row("integers", "age == %u"), Row("integers", "age == %lu"),
        Row("integers", "age == %llu"), Row("numbers", "height == %f"),
        Row("numbers", "height == %la"), Row("a character", "name == %c"),
        Row("the remainder operator", "age %% 2 == 1"),
      ]),
  ]

  private static func row(_ function: PredicateFunction) -> Row {
    let name = function.formatName
    switch function {
    case _ where function.isAggregate: return Row("of a list", "\(name)({age, 3}) > 1")
    case .now: return Row("the current date", "born < now()")
    case .random: return Row("from 0 to 2147483647", "random() < 1000")
    case .uppercase, .lowercase, .canonical:
      return Row("of a string", "\(name)(name) == 'x'", "\(function.rawValue)(name) == 'x'")
    case .length: return Row("of a string", "length(name) > 1", "length:(name) > 1")
    case .distance:
      return Row("a distance in meters", "\(function.rawValue)({52, 13}, {48, 2}) < 1000000")
    case .noIndex: return Row("its argument, without using an index", "noindex(age) == 3")
    default:
      let arguments = Array(repeating: "age", count: function.arity).joined(separator: ", ")
      return Row("of numbers", "\(function.rawValue)(\(arguments)) > 1")
    }
  }
}
