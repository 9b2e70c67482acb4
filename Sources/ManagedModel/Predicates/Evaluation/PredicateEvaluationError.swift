/// Why a predicate has no answer for an object.
///
/// Apple raises an exception here.
package enum PredicateEvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
  case unknownKey(String, type: String)
  case unboundVariable(String)
  case missingArgument(String)
  /// The two values cannot be compared so: `name < 3`.
  case incomparable(left: String, operator: String, right: String)
  /// An operand has the wrong kind for the operator or function.
  case wrongOperand(String, operator: String)
  case badPattern(String, reason: String)
  /// A regular expression that takes more steps on a string than allowed.
  case tooManySteps(String, Int)
  /// A tree that is higher than allowed, and the limit.
  case tooDeep(Int, limit: Int)
  case unknownMethod(String, type: String)
  /// Something that the predicate asked for went wrong.
  case failed(String, reason: String)
  /// What only Apple's systems know.
  case unsupported(String)

  package var description: String {
    switch self {
    case .unknownKey(let key, let type): "\(type) has no value for the key “\(key)”"
    case .unboundVariable(let name): "the variable $\(name) has no value"
    case .missingArgument(let text): "the placeholder \(text) has no argument"
    case .incomparable(let left, let sign, let right):
      "\(left) cannot be compared with \(right) by \(sign)"
    case .wrongOperand(let operand, let sign): "\(sign) cannot be applied to \(operand)"
    case .badPattern(let pattern, let reason):
      "“\(pattern)” is no regular expression: \(reason)"
    case .tooManySteps(let pattern, let limit):
      "matching “\(pattern)” takes more than \(limit) steps on one string: avoid repetition inside of "
        + "repetition, such as (a+)+"
    case .tooDeep(let depth, let limit):
      "it's nested \(depth) levels deep, and the limit is \(limit): join many conditions with one "
        + "NSCompoundPredicate"
    case .unknownMethod(let name, let type): "FUNCTION knows no method \(name) of \(type)"
    case .failed(let what, let reason): "\(what) failed: \(reason)"
    case .unsupported(let what): "\(what) cannot be evaluated here"
    }
  }
}
