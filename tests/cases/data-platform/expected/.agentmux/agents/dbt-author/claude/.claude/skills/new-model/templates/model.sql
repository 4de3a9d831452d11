-- <question>
select
    <columns>
from {{ ref("<model>") }}
{% if is_incremental() %}
where <time> > (select max(<time>) from {{ this }})
{% endif %}
