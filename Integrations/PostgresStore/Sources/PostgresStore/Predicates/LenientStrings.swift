/// Reserved.
struct LenientStrings {}
