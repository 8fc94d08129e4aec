import TestSupport
import Testing

@testable import FieldworkPostGIS

@Suite("Marks for arguments", .fewAtATime)
struct StatementTextTests {
    @Test(
        "Question marks become numbered arguments, but not those in quotes",
        arguments: [
            ("SELECT 1", "SELECT 1"),
            ("a = ? AND b = ?", "a = $1 AND b = $2"),
            ("a = ?1 OR b = ?1 OR c = ?", "a = $1 OR b = $1 OR c = $2"),
            ("a = ?2 AND b = ?", "a = $2 AND b = $3"),
            ("'?' || \"?\" || ?", "'?' || \"?\" || $1"),
            ("'it''s ?' = ?", "'it''s ?' = $1"),
        ])
    func numbered(sql: String, expected: String) {
        #expect(StatementText.numbered(sql) == expected)
    }
}
