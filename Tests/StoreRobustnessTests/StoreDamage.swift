/// Statements that damage a database of a store, each in another place.
enum StoreDamage {
  private static let (least, greatest) = ("-9223372036854775808", "9223372036854775807")

  static let values: [String] =
    [
      // Versions: with the highest bit, older and newer ones.
      "PRAGMA user_version=-2147483645", "PRAGMA user_version=-1", "PRAGMA user_version=0", "PRAGMA user_version=1",
      "PRAGMA user_version=2", "PRAGMA user_version=1073741827",
      // Runs: times whose differences and sums overflow, and numbers after which there is none.
      "UPDATE run SET alive = \(least), alive_uptime = \(greatest)",
      "UPDATE run SET started = \(greatest), started_uptime = -1",
      "UPDATE run SET alive = \(greatest), alive_uptime = \(least)", "UPDATE run SET id = id - 10",
      "UPDATE run SET id = \(greatest) WHERE id = 1",
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
      INSERT INTO run(id, epoch, boot, started, started_uptime, alive, alive_uptime, clean)
      SELECT -i, '6f1c2a90', 'boot' || i, 0, 0, 0, 1152921504606846976, 0 FROM n;
      UPDATE run SET id = id + 100
      """,
      "UPDATE run SET epoch = 'no' || char(10) || 'epoch'", "UPDATE run SET epoch = x'ff00fe'",
      "UPDATE run SET boot = x'ff00'",
      "UPDATE run SET service = \(greatest)", "UPDATE run SET service = \(least)",
      "UPDATE run SET service = NULL, token = 0",
      "UPDATE stretch SET at = \(least), uptime = \(greatest)", "UPDATE stretch SET uptime = \(least)",
      "UPDATE stretch SET event = \(greatest), transition = \(least)", "UPDATE stretch SET run = -1",
      "DELETE FROM stretch",
      "UPDATE stretch SET id = \(greatest) WHERE id = (SELECT max(id) FROM stretch)",
      "UPDATE period SET service = \(least)",
      "UPDATE OR REPLACE period SET number = \(greatest), service = \(greatest)",
      "UPDATE OR REPLACE period SET number = \(least)",
      "UPDATE webhook SET seen = \(least), seen_service = \(greatest)",
      "UPDATE webhook SET seen_service = \(least)",
      "DELETE FROM run", "DELETE FROM meta", "UPDATE meta SET value = NULL",
      // Numbers of events.
      "UPDATE event SET seq = -1 WHERE seq = 1", "UPDATE event SET seq = 0 WHERE seq = 1",
      "UPDATE event SET seq = \(greatest) WHERE seq = (SELECT max(seq) FROM event)",
      "UPDATE event SET seq = seq - 1000000",
      "UPDATE event SET seq = \(least) WHERE seq = 1", "DELETE FROM event", "UPDATE event SET type = 200",
      "UPDATE event SET at = \(least)", "UPDATE event SET body = x'', subject = 99",
      "UPDATE event SET body = CAST('data: {\"time\":\"0000-01-01T00:00:00Z\",\"type\":\"status\"}' || char(10) || char(10) AS BLOB)",
      "INSERT INTO hole VALUES(-5, -3)", "INSERT INTO hole VALUES(4, \(greatest))",
      "INSERT INTO hole VALUES(1, 1000000)",
      "INSERT OR REPLACE INTO hole VALUES(\(greatest), 1)",
      // Transitions, which the uptime and the retention read.
      "UPDATE transition SET id = \(greatest) WHERE id = 1", "UPDATE transition SET id = \(least) WHERE id = 1",
      "UPDATE transition SET id = -id", "UPDATE transition SET boottime = \(least)",
      "UPDATE transition SET boottime = \(greatest)",
      "UPDATE transition SET boottime = -9223372036854775807 WHERE id % 2",
      "UPDATE transition SET at = \(least), seq = -1",
      "UPDATE transition SET type = 999, old = -1, new = 256",
      "UPDATE transition SET reason = \(greatest), cause = -1, flags = \(least)",
      "UPDATE transition SET subject = 1", "UPDATE transition SET run = \(greatest)",
      // Subjects and their states.
      "UPDATE sqlite_sequence SET seq = \(greatest)", "UPDATE subject SET ref = -ref",
      "UPDATE subject SET state = zeroblob(100000)",
      "UPDATE subject SET state = x'01ffffffffffff'",
      "UPDATE subject SET state = (SELECT state FROM subject WHERE name = 'interface:eth0') WHERE name LIKE 'interface:%'",
      "INSERT INTO subject(name, state) SELECT name || n, state FROM subject, (SELECT 1 AS n UNION SELECT 2) WHERE name LIKE 'interface:%'",
      "UPDATE subject SET name = CAST(x'696e746572666163653aff00' AS TEXT) WHERE name = 'interface:eth0'",
      // Targets: the state after the format is the number of changes.
      "UPDATE target SET revision = -1", "UPDATE target SET definition = '{}', origin = 'nobody'",
      "UPDATE target SET definition = replace(definition, '30s', '999999999s')",
      "UPDATE target SET state = CAST(substr(state, 1, 1) || x'ffffffffffffffff' || substr(state, 10) AS BLOB)",
      // The consecutive failures of a target that is down: before the bits of its flapping and four bytes more.
      "UPDATE target SET state = CAST(substr(state, 1, length(state) - 15) || x'ffffffffffffff7f' || substr(state, -7) AS BLOB)",
      "UPDATE target SET state = CAST(substr(state, 1, length(state) - 23) || x'0000000000000080' || substr(state, -15) AS BLOB)",
      "UPDATE target SET ref = (SELECT ref FROM subject WHERE name = 'machine') WHERE ref = (SELECT min(ref) FROM target)",
      // Samples: times outside their hour, targets that do not exist, and a roll-up whose maximum is below its minimum.
      "UPDATE OR REPLACE sample_minute SET minute = \(least)",
      "UPDATE OR REPLACE sample_minute SET minute = \(greatest)",
      "INSERT OR REPLACE INTO sample_minute VALUES(-1, x'01ffffffffffffffffff010001')",
      "INSERT OR REPLACE INTO sample_minute VALUES(0, x'ffffffffffffffffff011402' || x'ffffffffffffffffff0114')",
      "UPDATE sample SET data = CAST(x'f1ffffffffffffffff01f1ffffffffffffffff01' || data AS BLOB)",
      "UPDATE sample SET key = \(greatest) WHERE key = (SELECT max(key) FROM sample)",
      "UPDATE sample SET key = \(least) WHERE key = (SELECT min(key) FROM sample)",
      "UPDATE hour SET data = x'01000affffffffffffffffff010a'",
      "UPDATE hour SET data = x'ffffffffffffffffff01ffffffffffffffffff010100ffffffffffffffffff0100ffffffff0f'",
      "UPDATE day SET data = x'01000affffffffffffffffff010a'",
      "UPDATE hour SET key = \(least) WHERE key = (SELECT min(key) FROM hour)",
      "INSERT OR REPLACE INTO meta VALUES('samples_closed', \(greatest))",
      // Webhooks.
      "UPDATE webhook SET next = \(least)", "UPDATE webhook SET next = \(greatest)",
      "UPDATE webhook SET attempt = \(greatest)",
      "UPDATE webhook SET attempt = \(least), cursor = -1", "UPDATE webhook SET cursor = \(greatest)",
      "UPDATE webhook SET epoch = ''",
      "UPDATE webhook SET state = '{\"rejections\":\(greatest),\"gap\":{\"reason\":\"expired\",\"after\":\"x\",\"last\":\"1\",\"count\":\(greatest),\"time\":\(least)}}'",
      "UPDATE delivery SET ms = \(greatest), at = \(greatest), status = \(least)",
      "UPDATE delivery SET id = \(greatest) WHERE id = 1",
      "UPDATE delivery SET result = x'ff', detail = zeroblob(100000)",
      // What a fleet has.
      "UPDATE meta SET value = (SELECT value FROM meta WHERE key = 'epoch') || ' \(greatest) \(greatest)' WHERE key = 'fleet'",
      "UPDATE meta SET value = (SELECT value FROM meta WHERE key = 'epoch') || ' \(least) -1' WHERE key = 'fleet'",
      "UPDATE meta SET value = x'ff2000' WHERE key = 'fleet'",
    ]

  static let schemas: [String] = [
    "DROP TABLE run", "DROP TABLE event", "DROP TABLE webhook", "DROP TABLE meta", "DROP TABLE sample_minute",
    "DROP TABLE hole", "DROP TABLE stretch", "DROP TABLE period", "DROP TABLE subject", "DROP TABLE transition",
    "DROP TABLE target", "DROP TABLE delivery",
    "DROP INDEX transition_subject", "DROP INDEX delivery_webhook",
    "ALTER TABLE run RENAME COLUMN alive TO living", "ALTER TABLE event RENAME TO \"it's\"",
    "ALTER TABLE event ADD COLUMN more NOT NULL DEFAULT 'x'", "CREATE TABLE \"it's\"(x)",
    "CREATE TABLE moved AS SELECT * FROM meta; DROP TABLE meta; ALTER TABLE moved RENAME TO meta",
    "CREATE TABLE moved AS SELECT * FROM event; DROP TABLE event; ALTER TABLE moved RENAME TO event",
    "CREATE TABLE moved AS SELECT * FROM subject; DROP TABLE subject; ALTER TABLE moved RENAME TO subject",
    "DROP TABLE run; CREATE VIEW run AS SELECT 1 AS id, '6f1c2a90' AS epoch, '' AS boot, 1 AS started, 1 AS started_uptime, 1 AS alive, 1 AS alive_uptime, 1 AS ended, 1 AS clean",
    "DELETE FROM transition; CREATE UNIQUE INDEX once ON transition(type)",
    "DELETE FROM event; CREATE UNIQUE INDEX once ON event(type)",
    """
    CREATE TRIGGER slow BEFORE INSERT ON event BEGIN
      SELECT max(i) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END
    """,
    "CREATE TRIGGER refuse BEFORE INSERT ON event BEGIN SELECT raise(ABORT, 'no'); END",
    "PRAGMA user_version=7; DELETE FROM meta WHERE key = 'compatible_from'", "PRAGMA user_version=7; DROP TABLE meta",
    "PRAGMA journal_mode=DELETE", "PRAGMA application_id=-1",
  ]
}
