-- The places of an extracted value that nobody could look up in what the model said: a list of pointers.
ALTER TABLE answers ADD COLUMN unchecked TEXT;
