/// The tables of persistent history, by the numbers of their entities.
enum HistoryTables {
  static let changes = "ACHANGE"
  static let transactions = "ATRANSACTION"
  static let strings = "ATRANSACTIONSTRING"

  static let numbers = [(16_001, changes), (16_002, transactions), (16_003, strings)]
}
