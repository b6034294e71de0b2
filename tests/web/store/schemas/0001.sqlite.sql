CREATE TABLE account (
    id TEXT NOT NULL, 
    name TEXT NOT NULL, 
    password_hash VARCHAR, 
    created_at VARCHAR(24) NOT NULL, 
    closed_at VARCHAR(24), 
    CONSTRAINT pk_account PRIMARY KEY (id), 
    CONSTRAINT uq_account_name UNIQUE (name)
);

CREATE TABLE idempotency (
    scope TEXT NOT NULL, 
    "key" TEXT NOT NULL, 
    digest TEXT NOT NULL, 
    status INTEGER NOT NULL, 
    body TEXT NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    CONSTRAINT pk_idempotency PRIMARY KEY (scope, "key")
);

CREATE INDEX ix_idempotency_time ON idempotency (time);

CREATE TABLE panel (
    id TEXT NOT NULL, 
    owner TEXT NOT NULL, 
    title TEXT NOT NULL, 
    description TEXT NOT NULL, 
    settings TEXT NOT NULL, 
    created_at VARCHAR(24) NOT NULL, 
    deleted_at VARCHAR(24), 
    CONSTRAINT pk_panel PRIMARY KEY (id), 
    CONSTRAINT fk_panel_owner FOREIGN KEY(owner) REFERENCES account (id) ON DELETE CASCADE
);

CREATE INDEX ix_panel_owner_id ON panel (owner, id);

CREATE TABLE token (
    id TEXT NOT NULL, 
    account TEXT NOT NULL, 
    name TEXT NOT NULL, 
    secret_hash VARCHAR(64) NOT NULL, 
    created_at VARCHAR(24) NOT NULL, 
    expires_at VARCHAR(24), 
    revoked_at VARCHAR(24), 
    CONSTRAINT pk_token PRIMARY KEY (id), 
    CONSTRAINT fk_token_account FOREIGN KEY(account) REFERENCES account (id) ON DELETE CASCADE, 
    CONSTRAINT uq_token_secret_hash UNIQUE (secret_hash)
);

CREATE INDEX ix_token_account ON token (account);

CREATE TABLE aggregation (
    id TEXT NOT NULL, 
    panel TEXT NOT NULL, 
    version INTEGER NOT NULL, 
    status VARCHAR(16) NOT NULL, 
    options TEXT NOT NULL, 
    limits TEXT NOT NULL, 
    note TEXT NOT NULL, 
    as_of VARCHAR(24) NOT NULL, 
    requested_at VARCHAR(24) NOT NULL, 
    started_at VARCHAR(24), 
    ended_at VARCHAR(24), 
    progress DOUBLE NOT NULL, 
    progress_text TEXT NOT NULL, 
    cancel_requested BOOLEAN NOT NULL, 
    worker TEXT, 
    lease_until VARCHAR(24), 
    attempts INTEGER NOT NULL, 
    summary TEXT NOT NULL, 
    error TEXT NOT NULL, 
    inputs BLOB, 
    result BLOB, 
    CONSTRAINT pk_aggregation PRIMARY KEY (id), 
    CONSTRAINT fk_aggregation_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX ix_aggregation_panel_version ON aggregation (panel, version);

CREATE INDEX ix_aggregation_status_requested_at ON aggregation (status, requested_at);

CREATE TABLE change (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
    panel TEXT NOT NULL, 
    kind VARCHAR(32) NOT NULL, 
    judge TEXT, 
    data TEXT NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    CONSTRAINT fk_change_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_change_panel_id ON change (panel, id);

CREATE INDEX ix_change_time ON change (time);

CREATE TABLE judge (
    id TEXT NOT NULL, 
    position INTEGER NOT NULL, 
    panel TEXT NOT NULL, 
    name TEXT NOT NULL, 
    link_hash VARCHAR(64), 
    invited_at VARCHAR(24) NOT NULL, 
    opened_at VARCHAR(24), 
    revoked_at VARCHAR(24), 
    CONSTRAINT pk_judge PRIMARY KEY (id), 
    CONSTRAINT fk_judge_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE, 
    CONSTRAINT uq_judge_link_hash UNIQUE (link_hash)
);

CREATE UNIQUE INDEX ix_judge_panel_name ON judge (panel, name);

CREATE TABLE law (
    id TEXT NOT NULL, 
    position INTEGER NOT NULL, 
    panel TEXT NOT NULL, 
    statement TEXT NOT NULL, 
    title TEXT NOT NULL, 
    added_at VARCHAR(24) NOT NULL, 
    dropped_at VARCHAR(24), 
    CONSTRAINT pk_law PRIMARY KEY (id), 
    CONSTRAINT fk_law_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_law_panel_position ON law (panel, position);

CREATE TABLE outcome (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
    panel TEXT NOT NULL, 
    event TEXT NOT NULL, 
    outcome TEXT NOT NULL, 
    note TEXT NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    CONSTRAINT fk_outcome_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_outcome_panel_id ON outcome (panel, id);

CREATE TABLE question (
    id TEXT NOT NULL, 
    panel TEXT NOT NULL, 
    number INTEGER NOT NULL, 
    kind VARCHAR(16) NOT NULL, 
    title TEXT NOT NULL, 
    definition TEXT NOT NULL, 
    group_name TEXT NOT NULL, 
    declaration TEXT, 
    added_at VARCHAR(24) NOT NULL, 
    withdrawn_at VARCHAR(24), 
    CONSTRAINT pk_question PRIMARY KEY (id), 
    CONSTRAINT fk_question_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE UNIQUE INDEX ix_question_panel_number ON question (panel, number);

CREATE TABLE round_phase (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
    panel TEXT NOT NULL, 
    number INTEGER NOT NULL, 
    phase VARCHAR(16) NOT NULL, 
    closes_at VARCHAR(24), 
    hide_numbers BOOLEAN NOT NULL, 
    since VARCHAR(24) NOT NULL, 
    CONSTRAINT fk_round_phase_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_round_phase_panel_id ON round_phase (panel, id);

CREATE TABLE comment (
    id TEXT NOT NULL, 
    position INTEGER NOT NULL, 
    panel TEXT NOT NULL, 
    judge TEXT, 
    question TEXT, 
    text TEXT NOT NULL, 
    round INTEGER NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    withdrawn_at VARCHAR(24), 
    CONSTRAINT pk_comment PRIMARY KEY (id), 
    CONSTRAINT fk_comment_judge FOREIGN KEY(judge) REFERENCES judge (id) ON DELETE CASCADE, 
    CONSTRAINT fk_comment_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE, 
    CONSTRAINT fk_comment_question FOREIGN KEY(question) REFERENCES question (id) ON DELETE CASCADE
);

CREATE INDEX ix_comment_judge ON comment (judge);

CREATE INDEX ix_comment_panel_position ON comment (panel, position);

CREATE INDEX ix_comment_question ON comment (question);

CREATE TABLE hand_in (
    judge TEXT NOT NULL, 
    round INTEGER NOT NULL, 
    panel TEXT NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    CONSTRAINT pk_hand_in PRIMARY KEY (judge, round), 
    CONSTRAINT fk_hand_in_judge FOREIGN KEY(judge) REFERENCES judge (id) ON DELETE CASCADE, 
    CONSTRAINT fk_hand_in_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_hand_in_panel ON hand_in (panel);

CREATE TABLE meant (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
    panel TEXT NOT NULL, 
    judge TEXT NOT NULL, 
    "key" TEXT NOT NULL, 
    sentence TEXT NOT NULL, 
    reason TEXT NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    taken_back_at VARCHAR(24), 
    CONSTRAINT fk_meant_judge FOREIGN KEY(judge) REFERENCES judge (id) ON DELETE CASCADE, 
    CONSTRAINT fk_meant_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_meant_judge_key ON meant (judge, "key");

CREATE INDEX ix_meant_panel_id ON meant (panel, id);

CREATE TABLE question_event (
    id TEXT NOT NULL, 
    panel TEXT NOT NULL, 
    question TEXT NOT NULL, 
    position INTEGER NOT NULL, 
    event TEXT NOT NULL, 
    title TEXT NOT NULL, 
    CONSTRAINT pk_question_event PRIMARY KEY (id), 
    CONSTRAINT fk_question_event_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE, 
    CONSTRAINT fk_question_event_question FOREIGN KEY(question) REFERENCES question (id) ON DELETE CASCADE
);

CREATE INDEX ix_question_event_panel_question_position ON question_event (panel, question, position);

CREATE INDEX ix_question_event_question ON question_event (question);

CREATE TABLE session (
    id TEXT NOT NULL, 
    account TEXT, 
    judge TEXT, 
    secret_hash VARCHAR(64) NOT NULL, 
    csrf VARCHAR(64) NOT NULL, 
    created_at VARCHAR(24) NOT NULL, 
    expires_at VARCHAR(24) NOT NULL, 
    CONSTRAINT pk_session PRIMARY KEY (id), 
    CONSTRAINT fk_session_account FOREIGN KEY(account) REFERENCES account (id) ON DELETE CASCADE, 
    CONSTRAINT fk_session_judge FOREIGN KEY(judge) REFERENCES judge (id) ON DELETE CASCADE, 
    CONSTRAINT uq_session_secret_hash UNIQUE (secret_hash)
);

CREATE INDEX ix_session_account ON session (account);

CREATE INDEX ix_session_expires_at ON session (expires_at);

CREATE INDEX ix_session_judge ON session (judge);

CREATE TABLE forecast (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
    panel TEXT NOT NULL, 
    judge TEXT NOT NULL, 
    event TEXT NOT NULL, 
    probability DOUBLE, 
    state VARCHAR(16) NOT NULL, 
    locked BOOLEAN NOT NULL, 
    reason TEXT NOT NULL, 
    round INTEGER NOT NULL, 
    time VARCHAR(24) NOT NULL, 
    CONSTRAINT fk_forecast_event FOREIGN KEY(event) REFERENCES question_event (id) ON DELETE CASCADE, 
    CONSTRAINT fk_forecast_judge FOREIGN KEY(judge) REFERENCES judge (id) ON DELETE CASCADE, 
    CONSTRAINT fk_forecast_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_forecast_event ON forecast (event);

CREATE INDEX ix_forecast_judge_id ON forecast (judge, id);

CREATE INDEX ix_forecast_panel_id ON forecast (panel, id);

CREATE TABLE answer (
    judge TEXT NOT NULL, 
    event TEXT NOT NULL, 
    panel TEXT NOT NULL, 
    forecast INTEGER NOT NULL, 
    CONSTRAINT pk_answer PRIMARY KEY (judge, event), 
    CONSTRAINT fk_answer_event FOREIGN KEY(event) REFERENCES question_event (id) ON DELETE CASCADE, 
    CONSTRAINT fk_answer_forecast FOREIGN KEY(forecast) REFERENCES forecast (id) ON DELETE CASCADE, 
    CONSTRAINT fk_answer_judge FOREIGN KEY(judge) REFERENCES judge (id) ON DELETE CASCADE, 
    CONSTRAINT fk_answer_panel FOREIGN KEY(panel) REFERENCES panel (id) ON DELETE CASCADE
);

CREATE INDEX ix_answer_event ON answer (event);

CREATE INDEX ix_answer_forecast ON answer (forecast);

CREATE INDEX ix_answer_panel_forecast ON answer (panel, forecast);

CREATE TABLE schema_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT schema_version_pkc PRIMARY KEY (version_num));

INSERT INTO schema_version (version_num) VALUES ('0001');
